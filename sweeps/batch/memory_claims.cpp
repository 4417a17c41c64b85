// Which batch fits, and what a narrower dtype saves.
#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/batch/claims.h"

namespace bench::sweeps {

Finding claim_memory_ratio(const BatchSeries& series, const BatchSeries& baseline) {
  Finding finding = finding_of("memory_ratio_" + series.label, "ratio");
  const BatchPoint* one = nullptr;
  const BatchPoint* other = nullptr;
  for (const BatchPoint& point : series.points) {  // by batch: the largest shared one stays
    const BatchPoint* match = baseline.at(point.batch);
    if (match != nullptr && match->bytes > 0 && point.bytes > 0) {
      one = &point;
      other = match;
    }
  }
  if (one == nullptr) {
    finding.claim =
        fmt::format("No batch's memory was measured in both {} and {}.", series.label, baseline.label);
    return finding;
  }
  finding.value = static_cast<double>(one->bytes) / static_cast<double>(other->bytes);
  finding.evidence = {one->name, other->name};
  finding.details = {{"batch", one->batch}, {"bytes", one->bytes}, {"baseline_bytes", other->bytes}};
  finding.claim = fmt::format("{} takes {} of the memory of {} at batch {}: {} instead of {}.", series.label,
                              format_percent(*finding.value), baseline.label, one->batch,
                              format_bytes(one->bytes), format_bytes(other->bytes));
  return finding;
}

namespace {

// Two digits of a batch far beyond those measured, rounded down: "about 92000".
std::string predicted_in_words(std::int64_t batch, std::int64_t measured) {
  std::int64_t step = 1;
  while (batch / step >= 100) {
    step *= 10;
  }
  return batch <= 2 * measured || step == 1 ? fmt::format("{}", batch)
                                            : fmt::format("about {}", batch / step * step);
}

}  // namespace

Finding claim_largest_batch(const BatchSeries& series) {
  Finding finding = finding_of("largest_batch", "samples", series.names());
  if (!series.memory) {
    finding.claim = too_few(series, "The largest batch that fits");
    return finding;
  }
  if (!series.cap_bytes) {
    finding.claim = "Without a memory cap there is no largest batch.";
    return finding;
  }
  const std::int64_t measured = series.points.back().batch;
  finding.details = {{"cap_bytes", *series.cap_bytes}, {"largest_measured", measured}};
  const std::string cap = format_bytes(*series.cap_bytes);
  const auto largest = series.memory->largest_batch(*series.cap_bytes);
  if (!largest) {
    finding.claim = fmt::format(
        "Memory of {} does not grow up to batch {}, so that these batches do not show the largest within {}.",
        series.label, measured, cap);
    return finding;
  }
  finding.value = static_cast<double>(*largest);
  finding.claim = fmt::format("The largest batch of {} within {} is {}, predicted from batches up to {}",
                              series.label, cap, predicted_in_words(*largest, measured), measured);
  if (series.smallest_oom) {
    finding.details["smallest_oom"] = *series.smallest_oom;
    finding.claim += fmt::format("; batch {} does not fit", *series.smallest_oom);
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
