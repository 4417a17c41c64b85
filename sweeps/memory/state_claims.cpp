// What training holds whatever the batch, and what a sample adds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bench/measure/units.h"
#include "sweeps/memory/claims.h"

namespace bench::sweeps {
namespace {

std::int64_t weights_of(const BatchPoint& point) {
  return point.memory.by_category[MemoryCategory::weights];
}

// What a step holds more for each sample, weights not counted, between the smallest and the largest batch.
std::optional<double> step_slope(const BatchSeries& series) {
  if (series.points.size() < 2 || series.points.front().step_bytes <= 0) {
    return std::nullopt;
  }
  const BatchPoint& small = series.points.front();
  const BatchPoint& large = series.points.back();
  const auto samples = static_cast<double>(large.batch - small.batch);
  const auto bytes = [](const BatchPoint& point) {
    return static_cast<double>(point.step_bytes - weights_of(point));
  };
  const double slope = (bytes(large) - bytes(small)) / samples;
  return slope >= 1 ? std::optional(slope) : std::nullopt;
}

}  // namespace

std::string proportion_in_words(const BatchSeries& series) {
  if (series.points.size() < 2 || series.points.front().bytes <= 0) {
    return "";
  }
  const BatchPoint& small = series.points.front();
  const BatchPoint& large = series.points.back();
  const double batches = static_cast<double>(large.batch) / static_cast<double>(small.batch);
  const double bytes = static_cast<double>(large.bytes) / static_cast<double>(small.bytes);
  return fmt::format(" It is {}: {:.3g} times the batch takes {:.2g} times the memory.",
                     bytes > 0.95 * batches ? "nearly proportional" : "not proportional", batches, bytes);
}

std::optional<Finding> claim_multiples(const std::vector<const MemorySeries*>& of_dtype) {
  Finding finding = finding_of("optimizer_multiple", "ratio");
  std::vector<std::string> words;
  std::vector<std::string> named;
  for (const MemorySeries* series : of_dtype) {
    if (series->mode != "train" || series->batches.points.empty() ||
        std::ranges::find(named, series->optimizer) != named.end()) {
      continue;
    }
    const BatchPoint& point = series->batches.points.front();
    if (weights_of(point) <= 0) {
      continue;
    }
    const double multiple =
        static_cast<double>(point.memory.by_category.fixed_part()) / static_cast<double>(weights_of(point));
    named.push_back(series->optimizer);
    words.push_back(fmt::format("{:.2f} with {} ({})", multiple, series->optimizer,
                                format_bytes(point.memory.by_category.fixed_part())));
    finding.details[series->optimizer] = {{"multiple", multiple},
                                          {"weights", weights_of(point)},
                                          {"gradients", point.memory.by_category[MemoryCategory::gradients]},
                                          {"optimizer", point.memory.by_category[MemoryCategory::optimizer]}};
    finding.value = std::max(finding.value.value_or(0), multiple);
    finding.evidence.push_back(point.name);
  }
  if (words.empty()) {
    return std::nullopt;
  }
  const std::string& dtype = of_dtype.front()->batches.dtype;
  const bool narrow = dtype == "bf16" || dtype == "fp16";
  finding.claim = fmt::format(
      "In {} weights, gradients and optimizer state together are, as multiples of the weights, {}, as "
      "measured{}.",
      dtype, fmt::join(words, ", "),
      narrow ? "; the weights are 16-bit, and the optimizer keeps fp32 ones beside them" : "");
  return finding;
}

std::optional<Finding> claim_activations(const MemorySeries* training, const MemorySeries* inference) {
  if (training == nullptr || inference == nullptr) {
    return std::nullopt;
  }
  const auto in_training = step_slope(training->batches);
  const auto in_inference = step_slope(inference->batches);
  if (!in_training || !in_inference) {
    return std::nullopt;
  }
  const BatchPoint& point = training->batches.points.back();
  const double maps = static_cast<double>(point.feature_map_bytes) / static_cast<double>(point.batch);
  Finding finding =
      finding_of("activations_per_sample", "ratio", {point.name, inference->batches.points.back().name});
  finding.details = {{"training_bytes", *in_training}, {"inference_bytes", *in_inference}};
  finding.value = *in_training / *in_inference;
  finding.claim =
      fmt::format("In {} a step holds {} a sample in training and {} in inference, {:.1f} times as much",
                  training->batches.dtype, format_bytes(std::llround(*in_training)),
                  format_bytes(std::llround(*in_inference)), *finding.value);
  if (maps > 0) {
    finding.details["feature_map_bytes"] = maps;
    finding.claim += fmt::format(
        "; its feature maps, every layer's result counted once, are {}: training holds {:.2f} times that and "
        "inference {:.2f} times (the rule of thumb says 2 and 1)",
        format_bytes(std::llround(maps)), *in_training / maps, *in_inference / maps);
  }
  finding.claim += '.';
  return finding;
}

std::optional<Finding> claim_peak(const ResultDocument& document, const MemorySeries& series) {
  if (series.batches.points.empty()) {
    return std::nullopt;
  }
  const BatchPoint& largest = series.batches.points.back();
  const auto point = std::ranges::find(document.benchmarks, largest.name, &MeasuredPoint::name);
  if (point == document.benchmarks.end() || !point->plan.is_object() || !point->plan.contains("peak_at")) {
    return std::nullopt;
  }
  Finding finding = finding_of("peak", "bytes", {largest.name});
  finding.value = static_cast<double>(largest.bytes);
  const std::string where = point->plan["peak_at"].get<std::string>();
  const auto setup = point->plan.value("setup_peak_bytes", std::int64_t{0});
  const auto step = point->plan.value("step_peak_bytes", std::int64_t{0});
  finding.details = {{"peak_at", where}, {"setup_peak_bytes", setup}, {"step_peak_bytes", step}};
  finding.claim = fmt::format("In {} at batch {} the peak, {}, is at \"{}\"", series.batches.label,
                              largest.batch, format_bytes(largest.bytes), where);
  if (setup > step) {
    finding.claim += fmt::format(
        ": getting ready takes {} more than a step holds{}", format_bytes(setup - step),
        20 * (setup - step) > step ? "; a run that could hold every step may die at its start" : "");
  } else if (setup > 0) {
    finding.claim += fmt::format("; getting ready takes {}", format_bytes(setup));
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
