#include "bench/result/embedded_files.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace bench {
namespace {

constexpr std::string_view kFolder = "results/";
constexpr std::string_view kEnding = "-schema.json";
constexpr std::string_view kOfResults = "results/schema.json";

}  // namespace

std::string_view embedded_text(std::string_view path) {
  const auto files = embedded_files();
  const auto found = std::ranges::find(files, path, &EmbeddedFile::path);
  if (found == files.end()) {
    throw std::logic_error(fmt::format("{} was not compiled into the program", path));
  }
  return found->text;
}

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files()) {
    std::string_view name = file.path;
    if (name == kOfResults) {
      names.insert(names.begin(), "result");
    } else if (name.starts_with(kFolder) && name.ends_with(kEnding)) {
      name.remove_prefix(kFolder.size());
      name.remove_suffix(kEnding.size());
      names.emplace_back(name);
    }
  }
  return names;
}

std::string_view schema_text(std::string_view name) {
  return embedded_text(name == "result" ? std::string(kOfResults)
                                        : fmt::format("{}{}{}", kFolder, name, kEnding));
}

}  // namespace bench
