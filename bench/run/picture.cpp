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
#include "bench/run/embedded_files.h"

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

// File names travel in the environment, so that none is ever read as shell text. -d: no settings of the
// user's or of the current folder.
Output run_gnuplot(const fs::path& script, const fs::path& result, const fs::path& picture) {
  setenv("BENCH_PLOT_SCRIPT", script.c_str(), 1);
  setenv("BENCH_RESULT", result.c_str(), 1);
  setenv("BENCH_PICTURE", picture.c_str(), 1);
  setenv("BENCH_SEARCH_PATH", search_path().c_str(), 1);
  Output output;
  FILE* const pipe = popen(  // NOLINT(cert-env33-c)
      R"(PATH="$BENCH_SEARCH_PATH"; exec gnuplot -d "$BENCH_PLOT_SCRIPT" 2>&1 < /dev/null)", "r");
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

// A script loads common.gp and its .jq file, which includes others: all of them go next to it. Throws
// std::system_error where they cannot be written.
Output run_script(const fs::path& folder, const std::string& sweep, const fs::path& result,
                  const fs::path& picture) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (const fs::path path(file.path); path.parent_path() == "plots") {
      std::ofstream written(folder / path.filename(), std::ios::binary);
      written << file.text << std::flush;
      if (!written) {
        throw std::system_error(errno, std::generic_category(), folder.string());
      }
    }
  }
  return run_gnuplot(folder / (sweep + ".gp"), result, picture);
}

// From the private folder into the one of the results, where an older picture is replaced as a whole or not
// at all.
void collect(const fs::path& drawn, const Output& output, const fs::path& result, Picture& picture) {
  bool broken = false;
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
    }
    broken = broken || !made.empty();
  }
  if (broken) {
    picture.problem =
        fmt::format("it could not be written whole next to {}; is the disk full?", result.string());
  } else if (picture.files.empty()) {
    picture.problem =
        fmt::format("gnuplot drew nothing (apt-get install gnuplot-nox jq, where missing){}{}",
                    output.text.empty() ? "" : ": ", output.text.substr(0, output.text.find('\n')));
  }
}

}  // namespace

Picture draw(const std::string& sweep, const fs::path& result) {
  Picture picture;
  const std::string script = fmt::format("plots/{}.gp", sweep);
  if (std::ranges::count(embedded_files(), script, &EmbeddedFile::path) == 0) {
    picture.problem = fmt::format("the sweep {} has no {}", sweep, script);
    return picture;
  }
  try {
    const PrivateFolder folder;
    const fs::path drawn = folder.path() / "picture";
    const Output output = run_script(folder.path(), sweep, fs::absolute(result), drawn);
    collect(drawn, output, result, picture);
  } catch (const std::system_error& error) {  // of the folder
    picture.problem = fmt::format(
        "its script needs a temporary folder ({}); set TMPDIR to one that can be written", error.what());
  }
  return picture;
}

}  // namespace bench
