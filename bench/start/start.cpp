// bin/bench of an installed tree, which starts libexec/bench. The system's loader opens the libraries in lib
// before the first line of that program runs: it takes them from the current folder where LD_LIBRARY_PATH
// says so, and ends the process where one is missing or cut short. This program needs the C and C++
// libraries alone, and takes them from the system's own folders.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "bench/error.h"
#include "bench/host/library_file.h"
#include "bench/host/search_path.h"

namespace {

// As in cmake/Install.cmake: every other library that the program needs is in lib.
bool is_of_system(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames{"libc",       "libm",      "libdl",    "librt",
                                                   "libpthread", "libstdc++", "libgcc_s", "ld-linux"};
  return std::ranges::any_of(kNames, [name](std::string_view one) {
    return name.starts_with(one) && (one == "ld-linux" || name.substr(one.size()).starts_with(".so"));
  });
}

int refuse(const std::string& sentence) {
  std::fputs(("bench: " + sentence + "\n").c_str(), stderr);
  return static_cast<int>(bench::ExitCode::usage);
}

// Empty where the file is whole.
std::string what_is_wrong(const std::string& path) {
  errno = 0;
  switch (bench::file_state(path)) {
    case bench::FileState::whole:
      return "";
    case bench::FileState::cut_short:
      return path + ": the file is cut short";
    case bench::FileState::foreign:
      return path + ": the file is damaged";
    case bench::FileState::unreadable:
      break;
  }
  return path + (errno == ENOENT ? ": the file is missing" : std::string(": ") + std::strerror(errno));
}

std::string what_is_wrong_in(const std::string& folder, const std::string& program) {
  const std::string libraries = folder + "/lib/";
  std::string wrong = what_is_wrong(program);
  if (wrong.empty()) {
    for (const std::string& name : bench::needed_libraries(program)) {
      if (wrong.empty() && !is_of_system(name)) {
        std::string path = libraries;
        wrong = what_is_wrong(path += name);
      }
    }
  }
  return wrong;
}

// The folder that holds bin, and this program in it.
std::string own_folder() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string program(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t bin = program.find_last_of('/');
  return bin == std::string::npos || bin == 0 ? "" : program.substr(0, program.find_last_of('/', bin - 1));
}

// Another oneDNN in LD_LIBRARY_PATH, as Python's environments have, is not this program's.
void put_first(const std::string& libraries) {
  if (const char* const given = std::getenv("LD_LIBRARY_PATH"); given != nullptr && *given != '\0') {
    setenv("LD_LIBRARY_PATH", (libraries + ":" + given).c_str(), 1);
  }
}

}  // namespace

int main(int /*argc*/, char** argv) {
  const std::string folder = own_folder();
  const std::string program = folder + "/libexec/bench";
  if (const std::string wrong = what_is_wrong_in(folder, program); !wrong.empty()) {
    return refuse(wrong + (folder.ends_with("/bench_gpu")
                               ? "; install the wheel again, with pip install --force-reinstall"
                               : "; unpack or install the package again"));
  }
  bench::leave_out_relative_library_folders();
  put_first(folder + "/lib");
  // NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): the user's arguments are what is passed on
  ::execv(program.c_str(), argv);
  return refuse(program + ": " + std::strerror(errno));
}
