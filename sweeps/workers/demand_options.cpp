// --demand: consumers elsewhere, by their rate or by what a batch sweep measured of them.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/other_result.h"

namespace bench::sweeps {
namespace {

[[noreturn]] void refuse(const std::string& given, const std::string& accepted) {
  throw UsageError(fmt::format("--demand: {} was given; accepted: {}", quote(given), accepted));
}

}  // namespace

std::vector<LoaderDemand> read_demands(const std::string& given, const std::optional<std::string>& dtype) {
  std::vector<LoaderDemand> demands;
  if (given == "none") {
    return demands;
  }
  for (const std::string& part : split_at_commas(given)) {
    const std::size_t equals = part.find('=');
    const std::string value = equals == std::string::npos ? part : part.substr(equals + 1);
    LoaderDemand demand{.name = equals == std::string::npos ? "" : part.substr(0, equals), .source = "given"};
    if (value.ends_with("/s")) {
      const char* const end = value.data() + value.size() - 2;
      const auto read = std::from_chars(value.data(), end, demand.images_per_s);
      if (read.ec != std::errc{} || read.ptr != end || !(demand.images_per_s > 0) ||
          demand.images_per_s > 1e9) {
        refuse(given, "images a second, as t4=1128/s, or a batch sweep's result file, as h200=FILE");
      }
    } else if (std::error_code error; std::filesystem::is_regular_file(value, error)) {
      const OtherResult other = other_result("--demand", value, dtype);
      demand.images_per_s = other.best_images_per_s();
      demand.source = value;
      if (demand.name.empty()) {
        demand.name = other.device;
      }
    } else {
      refuse(given, "images a second, as t4=1128/s, or a batch sweep's result file, as h200=FILE");
    }
    if (demand.name.empty()) {
      demand.name = value;
    }
    if (std::ranges::find(demands, demand.name, &LoaderDemand::name) != demands.end()) {
      refuse(given, fmt::format("each name once; {} stands there twice", quote(demand.name)));
    }
    demands.push_back(demand);
  }
  return demands;
}

}  // namespace bench::sweeps
