#include "bench/predict/engine_reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/flags.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

[[noreturn]] void refuse_reference(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("--from: {} {}", quote(path), why));
}

// A file's workload is the same where its graph is.
bool is_of(const ResultDocument& document, const WorkloadType& workload) {
  const auto& file = document.context.workload_file;
  return file.has_value() == workload.file.has_value() &&
         (file ? file->hash == workload.file->hash : document.sweep.workload == workload.name);
}

void check_setting(const EngineReference::File& file, const WorkloadType& workload,
                   const WorkloadSpec& spec) {
  const ResultDocument& document = file.document;
  if (document.context.device.kind == "cpu") {
    refuse_reference(file.path, "was measured on a CPU; give a result that was measured on a GPU");
  }
  if (is_predicted(document)) {
    refuse_reference(file.path, "is predicted itself; give a result that was measured");
  }
  if (document.sweep.name != "batch") {
    refuse_reference(file.path, fmt::format("is of the {} sweep; give one of bench --sweep batch",
                                            printable(document.sweep.name)));
  }
  if (!is_of(document, workload)) {
    refuse_reference(file.path, fmt::format("is of {}; give a result of {}", quote(document.sweep.workload),
                                            workload.name));
  }
  if (document.sweep.mode != spec.mode) {
    refuse_reference(file.path, fmt::format("is of --mode {}; give a result of --mode {}",
                                            printable(document.sweep.mode), spec.mode));
  }
  for (const auto& [option, value] : document.sweep.workload_options) {
    const auto asked = spec.options.find(option);
    if (asked != spec.options.end() && asked->second != value && option != "launch") {
      refuse_reference(file.path, fmt::format("was measured with --{} {}, and {} is asked for",
                                              printable(option), printable(value), asked->second));
    }
  }
}

const Gpu& gpu_of(const EngineReference::File& file, const GpuCatalogue& catalogue,
                  const std::vector<Gpu>& gpus) {
  const DeviceInfo& device = file.document.context.device;
  const std::string& name = device.name;
  // Two sizes of a card may share a name.
  constexpr double kOtherSize = 0.15;
  const auto is_of_size = [&](const Gpu& gpu) {
    return device.memory_bytes <= 0 ||
           std::abs(static_cast<double>(device.memory_bytes) / static_cast<double>(gpu.memory_bytes) - 1) <=
               kOtherSize;
  };
  const auto is_called = [&](const Gpu& gpu) {
    return std::ranges::count(gpu.names, name) > 0 && is_of_size(gpu);
  };
  if (const auto own = std::ranges::find_if(gpus, is_called); own != gpus.end()) {
    return *own;
  }
  const Gpu* const known = catalogue.find_name(name);
  if (known == nullptr || !is_of_size(*known)) {
    refuse_reference(
        file.path,
        fmt::format("was measured on {}{}, of which there is no data sheet; add a card's file with this name "
                    "to --gpu",
                    quote(name), known == nullptr ? "" : " with " + format_bytes(device.memory_bytes)));
  }
  return *known;
}

// The logarithm of measured over predicted, by batch.
using Factors = std::map<std::int64_t, double>;

double interpolated(const Factors& factors, std::int64_t batch) {
  const auto above = factors.lower_bound(batch);
  if (above == factors.end()) {
    return factors.rbegin()->second;
  }
  if (above == factors.begin() || above->first == batch) {
    return above->second;
  }
  const auto below = std::prev(above);
  const auto log_of = [](std::int64_t value) { return std::log(static_cast<double>(value)); };
  const double share = (log_of(batch) - log_of(below->first)) / (log_of(above->first) - log_of(below->first));
  return below->second + share * (above->second - below->second);
}

}  // namespace

EngineReference::EngineReference(const std::vector<File>& files, const WorkloadType& workload,
                                 const WorkloadSpec& spec, const GpuCatalogue& catalogue,
                                 const std::vector<Gpu>& gpus) {
  for (const File& file : files) {
    check_setting(file, workload, spec);
    const Gpu& gpu = gpu_of(file, catalogue, gpus);
    const std::size_t before = steps_.size();
    for (const Point& point : measured_points(file.document)) {
      const auto dtype = point.params.find("dtype");
      const auto known = dtype != point.params.end() && dtype->is_string()
                             ? parse_dtype(dtype->get<std::string>())
                             : std::nullopt;
      if (known && !has_flag(point, kAbovePeak) && point.stats.median_ns > 0 && point.items_per_step >= 1) {
        steps_.push_back({.path = file.path,
                          .gpu = gpu,
                          .dtype = *known,
                          .batch = std::llround(point.items_per_step),
                          .step_ns = point.stats.median_ns});
      }
    }
    if (steps_.size() == before) {
      refuse_reference(file.path, "has no measured step; give a result with one");
    }
  }
}

std::vector<std::int64_t> EngineReference::batches(Dtype dtype) const {
  std::vector<std::int64_t> batches;
  for (const ReferenceStep& step : steps_) {
    if (step.dtype == dtype) {
      batches.push_back(step.batch);
    }
  }
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

std::optional<GpuEvidence> EngineReference::evidence(const Gpu& target, const NetworkTerms& terms,
                                                     const StepSetting& setting,
                                                     const ModelCoefficients& coefficients) const {
  const bool on_target = std::ranges::any_of(steps_, [&](const ReferenceStep& step) {
    return step.dtype == setting.dtype && step.gpu.id == target.id;
  });
  std::map<std::string, Factors> by_file;
  for (const ReferenceStep& step : steps_) {
    if (step.dtype != setting.dtype || (on_target && step.gpu.id != target.id)) {
      continue;
    }
    const GpuModel there(step.gpu, Framework::pytorch, coefficients);
    StepSetting at = setting;
    at.batch = step.batch;
    if (there.unsupported(at)) {
      continue;
    }
    by_file[step.path][step.batch] = std::log(step.step_ns / there.step(terms, at).gpu_ns);
  }
  if (by_file.empty()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const auto& [path, factors] : by_file) {
    sum += interpolated(factors, setting.batch);
  }
  return GpuEvidence{
      .gpu_factor = std::exp(sum / static_cast<double>(by_file.size())),
      .reference = on_target ? GpuEvidence::Reference::same_network : GpuEvidence::Reference::other_card};
}

}  // namespace bench
