#include "bench/run/program_files.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace bench {
namespace {

namespace fs = std::filesystem;

// Also true of the folder itself.
bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

fs::path root_for(const fs::path& executable, const fs::path& build_folder, const fs::path& checkout) {
  std::error_code error;
  if (lies_in(executable, fs::weakly_canonical(build_folder, error))) {
    return checkout;
  }
  const fs::path folder = executable.parent_path();
  return folder.filename() == "bin" ? folder.parent_path() / "share" / "bench" : fs::path();
}

// Whether the group is the user's own, as most systems make one for each user: the login group, of the same
// name, without further members.
bool is_alone_in(gid_t group, uid_t user) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 16;
  std::vector<char> user_text(kMostBytes);
  std::vector<char> group_text(kMostBytes);
  struct passwd user_entry {};
  struct passwd* found_user = nullptr;
  struct group group_entry {};
  struct group* found_group = nullptr;
  if (::getpwuid_r(user, &user_entry, user_text.data(), kMostBytes, &found_user) != 0 ||
      ::getgrgid_r(group, &group_entry, group_text.data(), kMostBytes, &found_group) != 0 ||
      found_user == nullptr || found_group == nullptr) {
    return false;
  }
  const std::string_view owner = user_entry.pw_name;
  for (char** member = group_entry.gr_mem; *member != nullptr; ++member) {
    if (owner != *member) {
      return false;
    }
  }
  return user_entry.pw_gid == group && owner == group_entry.gr_name;
}

// Why another user could have put the file or folder there; empty where none could.
std::string weakness(const fs::path& path, uid_t program_owner) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    return fmt::format("{} cannot be read", path.string());
  }
  const std::array<uid_t, 3> trusted{0, ::geteuid(), program_owner};
  if (std::ranges::find(trusted, facts.st_uid) == trusted.end()) {
    return fmt::format("{} belongs to another user", path.string());
  }
  if ((facts.st_mode & S_IWOTH) != 0) {
    return fmt::format("{} can be written by everyone; chmod o-w it", path.string());
  }
  if ((facts.st_mode & S_IWGRP) != 0 && facts.st_gid != 0 && !is_alone_in(facts.st_gid, facts.st_uid)) {
    return fmt::format("{} can be written by its group; chmod g-w it", path.string());
  }
  return "";
}

}  // namespace

ProgramFile program_file(const fs::path& relative, const fs::path& executable, const fs::path& build_folder,
                         const fs::path& checkout) {
  ProgramFile missing{{},
                      fmt::format("{} was not found; run bench from its build folder, or install its bin/ "
                                  "and share/bench/ together",
                                  relative.string())};
  const fs::path root = root_for(executable, build_folder, checkout);
  std::error_code error;
  if (root.empty() || !fs::exists(root / relative, error)) {
    return missing;
  }
  const fs::path real_root = fs::canonical(root, error);
  const fs::path path = error ? fs::path() : fs::canonical(root / relative, error);
  if (error || !lies_in(path, real_root)) {  // a link to elsewhere
    return missing;
  }
  struct stat program {};
  const uid_t owner = ::stat(executable.c_str(), &program) == 0 ? program.st_uid : 0;
  std::vector<fs::path> parts;
  for (const auto& neighbour : fs::directory_iterator(path.parent_path(), error)) {
    if (neighbour.is_directory(error)) {
      continue;
    }
    if (const fs::path target = fs::canonical(neighbour.path(), error);
        !error && !lies_in(target, real_root)) {
      return {{}, fmt::format("{} is a link to elsewhere", neighbour.path().string())};
    }
    parts.push_back(neighbour.path());
  }
  for (fs::path part = path; part != real_root; part = part.parent_path()) {
    parts.push_back(part);
  }
  parts.push_back(real_root);
  for (const fs::path& part : parts) {
    if (std::string problem = weakness(part, owner); !problem.empty()) {
      return {{}, problem};
    }
  }
  return {path, ""};
}

ProgramFile program_file(const fs::path& relative) {
  std::error_code error;
  return program_file(relative, fs::read_symlink("/proc/self/exe", error), BENCH_BUILD_DIR, BENCH_SOURCE_DIR);
}

}  // namespace bench
