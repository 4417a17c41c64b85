// What a sample costs in memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"

namespace bench::sweeps {
namespace {

Json steps_of(const MemoryLine& line) {
  Json steps = Json::array();
  for (const MemoryStep& step : line.steps) {
    steps.push_back({{"batch", step.batch}, {"bytes", step.bytes}});
  }
  return steps;
}

Json weight_steps_of(const MemoryLine& line) {
  Json steps = Json::array();
  for (const WeightStep& step : line.weight_steps) {
    steps.push_back({{"batch", step.batch}, {"from_bytes", step.from}, {"to_bytes", step.to}});
  }
  return steps;
}

Json segments_of(const MemoryLine& line) {
  Json segments = Json::array();
  for (const MemoryLine::Segment& segment : line.segments) {
    segments.push_back({{"first_batch", segment.first_batch},
                        {"fixed_bytes", std::llround(segment.fixed)},
                        {"slope_bytes", std::llround(segment.slope)}});
  }
  return segments;
}

std::string steps_in_words(const MemoryLine& line) {
  std::vector<std::string> words;
  for (const MemoryStep& step : line.steps) {
    words.push_back(fmt::format("{} {} from batch {}", format_bytes(std::abs(step.bytes)),
                                step.bytes < 0 ? "less" : "more", step.batch));
  }
  std::string text = words.empty() ? "" : fmt::format("; it has steps: {}", fmt::join(words, ", "));
  if (line.weight_steps.empty()) {
    return text;
  }
  std::vector<std::string> changes;
  for (const WeightStep& step : line.weight_steps) {
    changes.push_back(
        fmt::format("from {} to {} at batch {}", format_bytes(step.from), format_bytes(step.to), step.batch));
  }
  return fmt::format("{}; weights change {}: another algorithm's", text, fmt::join(changes, ", "));
}

}  // namespace

Finding claim_memory_line(const BatchSeries& series) {
  Finding finding = finding_of("memory_line", "bytes/sample", series.names());
  if (!series.memory) {
    finding.claim = too_few(series, "What a sample costs in memory");
    return finding;
  }
  const MemoryLine& line = *series.memory;
  finding.details = {{"fixed_bytes", std::llround(line.fixed_bytes.value)},
                     {"slope_bytes", std::llround(line.slope_bytes.value)},
                     {"first_batch", line.first_batch},
                     {"last_batch", line.last_batch},
                     {"max_residual_bytes", std::llround(line.max_residual_bytes)},
                     {"max_relative_residual", line.max_relative_residual},
                     {"steps", steps_of(line)},
                     {"weight_steps", weight_steps_of(line)},
                     {"segments", segments_of(line)}};
  if (!(line.slope_bytes.value >= 1)) {
    finding.claim = fmt::format(
        "In {} memory did not grow with the batch between {} and {}, so what a sample costs cannot be told "
        "from these batches{}.",
        series.label, line.first_batch, line.last_batch, steps_in_words(line));
    return finding;
  }
  finding.value = line.slope_bytes.value;
  finding.ci95 = line.slope_bytes.ci95;
  const std::string tested =
      line.points > 2
          ? fmt::format("all points within {}", format_percent(std::max(line.max_relative_residual, 0.001)))
          : "a line through 2 points, not yet tested by a third";
  const std::string of_weights = line.weight_steps.empty() ? ""
                                                           : fmt::format(" (with the weights of batch {} on)",
                                                                         line.weight_steps.back().batch);
  finding.claim = fmt::format("In {} memory is {} fixed{} plus {} a sample from batch {} to {} ({}){}.",
                              series.label, format_bytes(std::llround(line.fixed_bytes.value)), of_weights,
                              format_bytes(std::llround(line.slope_bytes.value)), line.first_batch,
                              line.last_batch, tested, steps_in_words(line));
  return finding;
}

}  // namespace bench::sweeps
