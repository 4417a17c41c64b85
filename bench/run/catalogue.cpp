#include "bench/run/catalogue.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/run/program_files.h"
#include "bench/run/result_file.h"

namespace bench {

namespace fs = std::filesystem;

Json datasheet_of(std::string_view name, const fs::path& catalogue) {
  std::error_code error;
  if (!fs::exists(catalogue, error)) {
    return nullptr;
  }
  const Json json = read_json(catalogue);
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
