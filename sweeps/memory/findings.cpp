#include "sweeps/memory/answer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

constexpr double kUncalibrated = 0.05;  // the share by which a plan may be off without calibration

// Of a predicted point all that there is.
std::int64_t step_bytes(const CurvePoint& point) {
  const std::optional<PlannedMemory>& plan = point.point->plan;
  return plan ? plan->step_peak : point.is_predicted ? point.bytes : 0;
}

// Bytes that a step holds for each sample, weights not counted, between the smallest and the largest batch.
std::optional<double> step_slope(const BatchSeries& series) {
  if (series.points.size() < 2 || step_bytes(series.points.front()) <= 0) {
    return std::nullopt;
  }
  const CurvePoint& small = series.points.front();
  const CurvePoint& large = series.points.back();
  const auto bytes = [](const CurvePoint& point) {
    return static_cast<double>(step_bytes(point) - point.weights());
  };
  const double slope = (bytes(large) - bytes(small)) / static_cast<double>(large.batch - small.batch);
  return slope >= 1 ? std::optional(slope) : std::nullopt;
}

std::string optimizer_of(const BatchSeries& series) {
  const auto at = series.params.options.find("optimizer");
  return at == series.params.options.end() ? "" : at->second;
}

double beyond_step(const CurvePoint& point) {
  return static_cast<double>(point.point->memory.driver_used - step_bytes(point));
}

// The share by which the system reports more than a step's bytes and `other`; negative for less.
double off_by(const CurvePoint& point, double other) {
  return (beyond_step(point) - other) / static_cast<double>(point.point->memory.driver_used);
}

}  // namespace

Finding claim_growing_memory(const BatchSeries& series) {
  Finding finding = claim_memory_line(series);
  if (!series.fits.memory || series.points.size() < 2 || series.points.front().bytes <= 0) {
    return finding;
  }
  const MemoryLine& line = *series.fits.memory;
  const CurvePoint& small = series.points.front();
  const CurvePoint& large = series.points.back();
  const double batches = static_cast<double>(large.batch) / static_cast<double>(small.batch);
  const double bytes = static_cast<double>(large.bytes) / static_cast<double>(small.bytes);
  const auto whole = [](double ratio, int digits) {
    constexpr double kHundred = 100;
    return ratio < kHundred ? fmt::format("{:.{}g}", ratio, digits) : fmt::format("{:.0f}", ratio);
  };
  const bool in_proportion = bytes > 0.95 * batches;
  const std::string fixed =
      in_proportion || line.fixed_bytes.value < 1
          ? ""
          : fmt::format("{} are fixed, so ", format_bytes(std::llround(line.fixed_bytes.value)));
  finding.claim.pop_back();
  finding.claim += fmt::format("; {}{} × the batch needs {}{} × the memory.", fixed, whole(batches, 3),
                               in_proportion ? "" : "only ", whole(bytes, 2));
  return finding;
}

std::optional<Finding> claim_multiples(const std::vector<BatchSeries>& all, Dtype dtype) {
  Finding finding = finding_of("optimizer_multiple", "ratio");
  std::vector<std::string> words;
  bool is_own_engine = false;
  for (const BatchSeries& series : all) {
    const std::string optimizer = optimizer_of(series);
    if (series.params.dtype != dtype || series.params.mode != "train" || series.points.empty() ||
        series.points.front().weights() <= 0 || finding.details.contains(optimizer)) {
      continue;
    }
    const CurvePoint& point = series.points.front();
    const MemoryByCategory& bytes = point.point->memory.by_category;
    is_own_engine = !point.is_predicted;
    const double multiple = static_cast<double>(bytes.fixed_part()) / static_cast<double>(point.weights());
    words.push_back(
        fmt::format("{:.2f} with {} ({})", multiple, optimizer, format_bytes(bytes.fixed_part())));
    finding.details[optimizer] = {{"multiple", multiple},
                                  {"weights", point.weights()},
                                  {"gradients", bytes[MemoryCategory::gradients]},
                                  {"optimizer", bytes[MemoryCategory::optimizer]}};
    finding.value = std::max(finding.value.value_or(0), multiple);
    finding.evidence.push_back(point.name());
  }
  if (words.empty()) {
    return std::nullopt;
  }
  const bool narrow = (dtype == Dtype::bf16 || dtype == Dtype::fp16) && is_own_engine;
  finding.claim = fmt::format(
      "Weights, gradients and optimizer state in {}, as multiples of the weights: {}{}.", name_of(dtype),
      fmt::join(words, ", "), narrow ? "; the optimizer keeps fp32 weights beyond the 16-bit ones" : "");
  return finding;
}

std::optional<Finding> claim_activations(const std::vector<BatchSeries>& all, Dtype dtype) {
  const auto first_of = [&](const char* mode) {
    return std::ranges::find_if(all, [&](const BatchSeries& series) {
      return series.params.dtype == dtype && series.params.mode == mode;
    });
  };
  const auto training = first_of("train");
  const auto inference = first_of("infer");
  if (training == all.end() || inference == all.end()) {
    return std::nullopt;
  }
  const auto in_training = step_slope(*training);
  const auto in_inference = step_slope(*inference);
  if (!in_training || !in_inference) {
    return std::nullopt;
  }
  const CurvePoint& point = training->points.back();
  const double maps = point.point->plan ? static_cast<double>(point.point->plan->feature_maps) /
                                              static_cast<double>(point.batch)
                                        : 0;
  Finding finding =
      finding_of("activations_per_sample", "ratio", {point.name(), inference->points.back().name()});
  finding.details = {{"training_bytes", *in_training}, {"inference_bytes", *in_inference}};
  finding.value = *in_training / *in_inference;
  finding.claim = fmt::format("A sample takes {} in {} training, {:.1f} times the {} of inference",
                              format_bytes(std::llround(*in_training)), name_of(dtype), *finding.value,
                              format_bytes(std::llround(*in_inference)));
  if (maps > 0) {
    finding.details["feature_map_bytes"] = maps;
    finding.claim += fmt::format("; the rule of thumb, the output of every layer, gives {}",
                                 format_bytes(std::llround(maps)));
  }
  finding.claim += '.';
  return finding;
}

std::optional<Finding> claim_peak(const BatchSeries& series) {
  if (series.points.empty() || !series.points.back().point->plan ||
      series.points.back().point->plan->peak_at.empty()) {
    return std::nullopt;
  }
  const CurvePoint& largest = series.points.back();
  const PlannedMemory& plan = *largest.point->plan;
  Finding finding = finding_of("peak", "bytes", {largest.name()});
  finding.value = static_cast<double>(largest.bytes);
  finding.details = {
      {"peak_at", plan.peak_at}, {"setup_peak_bytes", plan.setup_peak}, {"step_peak_bytes", plan.step_peak}};
  finding.claim = fmt::format("Peak of {} at batch {}: {} in \"{}\"", series.label, largest.batch,
                              format_bytes(largest.bytes), plan.peak_at);
  const std::int64_t more = plan.setup_peak - plan.step_peak;
  if (more > 0) {
    finding.claim += fmt::format(
        "; setup takes {} more than a step{}", format_bytes(more),
        20 * more > plan.step_peak ? " [a run that could hold every step may fail at its start]" : "");
  } else if (plan.setup_peak > 0) {
    finding.claim += fmt::format("; setup takes {}", format_bytes(plan.setup_peak));
  }
  finding.claim += '.';
  return finding;
}

std::optional<Finding> claim_system(const std::vector<BatchSeries>& all) {
  Finding finding = finding_of("system_memory", "ratio");
  double worst = 0;
  const CurvePoint* worst_point = nullptr;
  std::string worst_label;
  std::size_t near = 0;
  double worst_calibrated = 0;
  std::size_t calibrated = 0;
  for (const BatchSeries& series : all) {
    std::vector<const CurvePoint*> points;
    for (const CurvePoint& point : series.points) {
      if (point.point->memory.driver_used <= 0 || step_bytes(point) <= 0) {
        continue;
      }
      points.push_back(&point);
      finding.evidence.push_back(point.name());
      const double off = off_by(point, static_cast<double>(point.point->plan->library));
      near += std::abs(off) <= kUncalibrated ? 1 : 0;
      if (worst_point == nullptr || std::abs(off) > std::abs(worst)) {
        worst = off;
        worst_point = &point;
        worst_label = series.label;
      }
    }
    // Calibration: the mean excess of the two smallest batches, expected at every batch.
    for (std::size_t i = 2; i < points.size(); ++i) {
      const double other = (beyond_step(*points[0]) + beyond_step(*points[1])) / 2;
      worst_calibrated = std::max(worst_calibrated, std::abs(off_by(*points[i], other)));
      ++calibrated;
    }
  }
  if (worst_point == nullptr) {
    return std::nullopt;
  }
  finding.value = worst;
  finding.details = {{"worst", worst},
                     {"batch", worst_point->batch},
                     {"label", worst_label},
                     {"within_5_percent", near},
                     {"calibrated_points", calibrated}};
  const double worst_bytes = std::abs(worst) * static_cast<double>(worst_point->point->memory.driver_used);
  finding.claim = fmt::format(
      "Memory in use, as the system reports it, is within {} of the plan at {} of {} point{}; furthest off "
      "is {} at batch {}: {} {} ({} of {})",
      format_percent(kUncalibrated), near, finding.evidence.size(), finding.evidence.size() == 1 ? "" : "s",
      worst_label, worst_point->batch, format_percent(std::abs(worst)), worst < 0 ? "less" : "more",
      format_bytes(std::llround(worst_bytes)), format_bytes(worst_point->point->memory.driver_used));
  if (calibrated > 0) {
    finding.details["worst_calibrated"] = worst_calibrated;
    finding.claim += fmt::format(
        "; calibrated on two batches of each series, {} within {}",
        calibrated == 1 ? "the other point is" : fmt::format("the other {} points are", calibrated),
        format_percent(worst_calibrated));
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
