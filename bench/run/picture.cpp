#include "bench/run/picture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "bench/host/private_folder.h"
#include "bench/host/search_path.h"
#include "bench/host/temporary_file.h"
#include "bench/run/whole_file.h"
#include "plots/gnuplot.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct Format {
  const char* extension;
  std::string_view end;  // of a whole file
};
constexpr std::array kFormats{Format{".png", std::string_view("IEND\xae\x42\x60\x82")},
                              Format{".svg", std::string_view("</svg>")}};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// White space at the end not counted.
bool ends_with(std::string_view text, std::string_view end) {
  return text.substr(0, text.find_last_not_of(" \r\n") + 1).ends_with(end);
}

struct Output {
  int status = -1;
  std::string text;
};

// A program in the current folder is not run: not by a name such as ".", nor by an empty PATH, which the
// shell takes for it.
std::string search_path() {
  const char* const all = std::getenv("PATH");
  const std::string folders = absolute_folders(all == nullptr ? "" : all);
  return folders.empty() ? "/usr/local/bin:/usr/bin:/bin" : folders;
}

// The folder's name travels in the environment, so that none is ever read as shell text. -d: no settings of
// the user's or of the current folder.
Output run_gnuplot(const fs::path& folder) {
  setenv("BENCH_PLOT_FOLDER", folder.c_str(), 1);
  setenv("BENCH_SEARCH_PATH", search_path().c_str(), 1);
  Output output;
  FILE* const pipe = popen(  // NOLINT(cert-env33-c)
      R"(PATH="$BENCH_SEARCH_PATH"; cd "$BENCH_PLOT_FOLDER" && exec gnuplot -d picture.gp 2>&1 < /dev/null)",
      "r");
  if (pipe == nullptr) {
    output.text = "no process could be started";
    return output;
  }
  std::array<char, 4096> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    output.text.append(chunk.data(), got);
  }
  output.status = pclose(pipe);
  return output;
}

// Throws std::system_error where the script cannot be written.
Output run_script(const fs::path& folder, const std::string& script) {
  std::ofstream written(folder / "picture.gp", std::ios::binary);
  written << script << std::flush;
  if (!written) {
    throw std::system_error(errno, std::generic_category(), folder.string());
  }
  return run_gnuplot(folder);
}

// From the private folder into the one of the results, where an older picture is replaced as a whole or not
// at all.
void collect(const fs::path& drawn, const Output& output, const fs::path& result, DrawnPicture& picture) {
  std::string why_not;
  for (const Format& format : kFormats) {
    const std::string made = content_of(drawn.string() + format.extension);
    fs::path file = result;
    file.replace_extension(format.extension);
    if (output.status == 0 && ends_with(made, format.end)) {
      remove_left_over(file);
      TemporaryFile whole(file);
      whole.write(made);
      whole.take_place();
      if (!whole.error()) {
        picture.files.push_back(file);
        continue;
      }
      why_not = fmt::format("{} cannot be written ({})", path_in_words(file), whole.error().message());
    } else if (!made.empty()) {
      why_not = "gnuplot wrote only a part of it to TMPDIR; is that disk full?";
    }
  }
  if (!why_not.empty()) {
    picture.problem = why_not;
  } else if (picture.files.empty()) {
    picture.problem =
        fmt::format("gnuplot drew nothing (apt-get install gnuplot-nox, where missing){}{}",
                    output.text.empty() ? "" : ": ", output.text.substr(0, output.text.find('\n')));
  }
}

}  // namespace

DrawnPicture draw(const plots::Picture& picture, const fs::path& result) {
  DrawnPicture drawn;
  try {
    const PrivateFolder folder;
    const Output output = run_script(folder.path(), plots::gnuplot_script(picture));
    drawn.said = output.text;
    collect(folder.path() / "picture", output, result, drawn);
  } catch (const std::system_error& error) {  // of the folder
    drawn.problem = fmt::format(
        "its script needs a temporary folder ({}); set TMPDIR to one that can be written", error.what());
  }
  return drawn;
}

}  // namespace bench
