#include "sweeps/kernels/roof_points.h"

#include <fmt/format.h>

#include <map>

namespace bench::sweeps {
namespace {

std::string text_of(const Json& params, const char* key) {
  const Json value = params.is_object() ? params.value(key, Json()) : Json();
  return value.is_string() ? value.get<std::string>() : "";
}

// What points of one kind differ in by size only; nothing where no ceiling is meant to come from them.
std::string roof_kind(const Json& params) {
  const std::string workload = text_of(params, "workload");
  const std::string mode = text_of(params, "mode");
  const bool cold = text_of(params, "caches") == "cold";
  const bool sets_memory = workload == "stream" && cold && (mode == "triad" || mode == "copy");
  const bool sets_peak = (workload == "fma" || workload == "gemm") && !cold;
  return sets_memory || sets_peak ? fmt::format("{}/{}/{}", workload, mode, text_of(params, "dtype")) : "";
}

double size_of(const Json& params) {
  double size = 1;
  for (const auto& [key, value] : params.items()) {
    size *= value.is_number() && value.get<double>() > 0 ? value.get<double>() : 1;
  }
  return size;
}

}  // namespace

RoofPoints roof_points(const ResultDocument& document) {
  struct Largest {
    double size = 0;
    std::string name;
    bool measured = false;
  };
  std::map<std::string, Largest> kinds;
  const auto look_at = [&](const Json& params, const std::string& name, bool measured) {
    const std::string kind = roof_kind(params);
    if (kind.empty()) {
      return;
    }
    Largest& largest = kinds[kind];
    if (size_of(params) > largest.size) {
      largest = {.size = size_of(params), .name = name, .measured = measured};
    }
  };
  for (const MeasuredPoint& point : document.benchmarks) {
    look_at(point.params, point.name, true);
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (point.status == "skipped") {
      look_at(point.params, point.name, false);
    }
  }
  RoofPoints points;
  for (const auto& [kind, largest] : kinds) {
    (largest.measured ? points.measured : points.skipped).push_back(largest.name);
  }
  return points;
}

}  // namespace bench::sweeps
