#include "bench/run/catalogue.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/result_json.h"
#include "bench/run/program_files.h"

namespace bench {

namespace fs = std::filesystem;

Json datasheet_of(std::string_view name, const fs::path& catalogue) {
  std::ifstream file(catalogue);
  if (!file) {
    return nullptr;
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // Discarded where it is no JSON or holds too large a number.
  const Json json = nesting_of(text) > kDeepestJson ? Json() : Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("gpus") || !json["gpus"].is_array()) {
    throw UsageError(fmt::format("{} is no catalogue of devices: an object with a list \"gpus\" is expected",
                                 catalogue.string()));
  }
  for (const Json& gpu : json["gpus"]) {
    const Json names = gpu.is_object() ? gpu.value("names", Json::array()) : Json::array();
    if (std::ranges::any_of(names, [&](const Json& one) { return one.is_string() && one == name; })) {
      return gpu;
    }
  }
  return nullptr;
}

fs::path catalogue_path() {
  return program_file(fs::path("results") / "gpus.json").path;
}

}  // namespace bench
