#include "bench/run/gpu_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/result/embedded_files.h"
#include "bench/result/json_text.h"
#include "bench/run/result_file.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

Json embedded_json(const char* path) {
  return parse_json(embedded_text(path), path);
}

Json json_of(std::string_view option, const std::string& path) {
  try {
    return read_json(path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

struct CatalogueInUse {
  explicit CatalogueInUse(Json document) : sheets(std::move(document)), gpus(sheets) {}
  Json sheets;
  GpuCatalogue gpus;
};

CatalogueInUse& catalogue_in_use() {
  static CatalogueInUse catalogue(embedded_json("results/gpus.json"));
  return catalogue;
}

// A file that was written before the catalogue had its card, or for a card with other clocks.
bool is_card_of_its_kind(const Gpu& own, const Gpu& known) {
  return own.chip == known.chip && own.multiprocessors == known.multiprocessors &&
         own.memory_bytes == known.memory_bytes && own.memory_kind == known.memory_kind;
}

}  // namespace

const Json& gpu_data_sheets() {
  return catalogue_in_use().sheets;
}

const GpuCatalogue& gpu_catalogue() {
  return catalogue_in_use().gpus;
}

std::vector<std::string> gpu_ids() {
  std::vector<std::string> ids;
  for (const Gpu& gpu : gpu_catalogue().all()) {
    ids.push_back(gpu.id);
  }
  return ids;
}

void use_gpu_catalogue(std::string_view option, const std::string& path) {
  if (!is_gpu_file(path)) {
    throw UsageError(
        fmt::format("{}: {} is no catalogue of GPUs; give a JSON file such as bench --list --gpus "
                    "--format json prints",
                    option, quote(path)));
  }
  Json sheets = json_of(option, path);
  if (sheets.is_object() && !sheets.contains("gpus") && sheets.contains("id")) {
    throw UsageError(
        fmt::format("{}: {} describes one card; give it as --gpu or --device", option, quote(path)));
  }
  try {
    catalogue_in_use() = CatalogueInUse(std::move(sheets));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {} is no catalogue of GPUs: {}", option, quote(path), error.what()));
  }
}

const GpuCatalogue& calibration_gpus() {
  static const GpuCatalogue catalogue(embedded_json("results/gpus.json"));
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
  const Json json = json_of(option, path);
  if (json.is_object() && json.contains("gpus")) {
    throw UsageError(fmt::format("{}: {} is a catalogue of GPUs; give it as --gpus, and ids of it here",
                                 option, quote(path)));
  }
  Gpu gpu;
  try {
    gpu = gpu_from_json(json);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {} describes no card: {}", option, quote(path), error.what()));
  }
  const Gpu* const known = gpu_catalogue().find(gpu.id);
  if (known != nullptr && !(known->id == gpu.id && is_card_of_its_kind(gpu, *known))) {
    throw UsageError(fmt::format("{}: {} has the id {} of a card of bench --list --gpus; give it another",
                                 option, quote(path), gpu.id));
  }
  return gpu;
}

Gpu gpu_named(std::string_view option, const std::string& id_or_file) {
  return is_gpu_file(id_or_file) ? gpu_from_file(option, id_or_file)
                                 : gpu_catalogue().get(option, id_or_file);
}

std::string gpu_id_of(std::string_view option, const std::string& word) {
  return names_gpu(word) ? gpu_named(option, word).id : word;
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
