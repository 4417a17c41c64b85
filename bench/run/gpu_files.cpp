#include "bench/run/gpu_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/measure/axis.h"
#include "bench/measure/json_text.h"
#include "bench/measure/quote.h"
#include "bench/run/embedded_files.h"
#include "bench/run/result_file.h"

namespace bench {
namespace {

Json embedded_json(const char* path) {
  return parse_json(embedded_text(path), path);
}

}  // namespace

const Json& gpu_data_sheets() {
  static const Json sheets = embedded_json("results/gpus.json");
  return sheets;
}

const GpuCatalogue& gpu_catalogue() {
  static const GpuCatalogue catalogue(gpu_data_sheets());
  return catalogue;
}

const ModelCoefficients& model_coefficients() {
  static const ModelCoefficients coefficients =
      coefficients_from_json(embedded_json("results/calibration.json"));
  return coefficients;
}

const LinkCatalogue& link_catalogue() {
  static const LinkCatalogue catalogue = links_from_json(embedded_json("results/links.json"));
  return catalogue;
}

bool is_gpu_file(std::string_view text) {
  return text.ends_with(".json");
}

bool names_gpu(const std::string& id_or_file) {
  return is_gpu_file(id_or_file) || gpu_catalogue().find_called(id_or_file) != nullptr;
}

Gpu gpu_from_file(std::string_view option, const std::string& path) {
  Json json;
  try {
    json = read_json(path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
  Gpu gpu;
  try {
    gpu = gpu_from_json(json);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {} describes no card: {}", option, quote(path), error.what()));
  }
  if (gpu_catalogue().find(gpu.id) != nullptr) {
    throw UsageError(fmt::format("{}: {} has the id {} of a card of bench --list --gpus; give it another",
                                 option, quote(path), gpu.id));
  }
  return gpu;
}

Gpu gpu_named(std::string_view option, const std::string& id_or_file) {
  return is_gpu_file(id_or_file) ? gpu_from_file(option, id_or_file)
                                 : gpu_catalogue().get(option, id_or_file);
}

std::vector<Gpu> gpus_in_list(std::string_view option, const std::string& list) {
  if (list == "all") {
    return gpu_catalogue().all();
  }
  std::vector<Gpu> gpus;
  for (const std::string_view id : split(list, ',')) {
    Gpu gpu = gpu_named(option, std::string(id));
    if (std::ranges::find(gpus, gpu.id, &Gpu::id) != gpus.end()) {
      throw UsageError(
          fmt::format("{}: {} names {} twice; give each card once", option, quote(list), gpu.id));
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace bench
