// How many samples fit.
#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/batch/claims.h"

namespace bench::sweeps {

Finding claim_largest_batch(const BatchSeries& series) {
  Finding finding = finding_of("largest_batch", "samples", series.names());
  if (!series.memory) {
    finding.claim = too_few(series, "The largest batch that fits");
    return finding;
  }
  if (!series.cap_bytes) {
    finding.claim = "The largest batch that fits cannot be told without a memory cap.";
    return finding;
  }
  finding.details = {{"cap_bytes", *series.cap_bytes}, {"largest_measured", series.points.back().batch}};
  const std::string cap = format_bytes(*series.cap_bytes);
  const auto largest = series.memory->largest_batch(*series.cap_bytes);
  if (!largest) {
    finding.claim = fmt::format(
        "In {} memory did not grow with the largest batches measured, so the largest batch within {} cannot "
        "be "
        "told from these batches.",
        series.label, cap);
    return finding;
  }
  finding.value = static_cast<double>(*largest);
  finding.claim =
      fmt::format("In {} the memory line puts batch {} as the largest within {} (measured up to {}",
                  series.label, *largest, cap, series.points.back().batch);
  if (series.smallest_oom) {
    finding.details["smallest_oom"] = *series.smallest_oom;
    finding.claim += fmt::format("; batch {} does not fit", *series.smallest_oom);
  }
  finding.claim += ").";
  return finding;
}

}  // namespace bench::sweeps
