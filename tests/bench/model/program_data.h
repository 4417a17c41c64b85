// The catalogue and the coefficients of the repository.
#pragma once

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "bench/model/coefficients.h"
#include "bench/model/gpu.h"

namespace bench::testing {

inline Json json_of(const char* name) {
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "results" / name);
  return Json::parse(file);
}

inline const GpuCatalogue& catalogue() {
  static const GpuCatalogue catalogue(json_of("gpus.json"));
  return catalogue;
}

inline const Gpu& card(const char* id) {
  return catalogue().get("--gpu", id);
}

inline const ModelCoefficients& coefficients() {
  static const ModelCoefficients coefficients = coefficients_from_json(json_of("calibration.json"));
  return coefficients;
}

}  // namespace bench::testing
