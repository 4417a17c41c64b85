#include "sweeps/series/predicted.h"

#include <cmath>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/text/units.h"

namespace bench::sweeps {

Interval throughput80(const BatchPoint& point) {
  const double items = point.throughput.per_s * point.step_ns.value;
  const Interval& step = *point.predicted->interval80_ns;
  return {.low = items / step.high, .high = items / step.low};
}

double half_width80(const BatchPoint& point) {
  const Interval& step = *point.predicted->interval80_ns;
  return std::log(step.high / step.low) / 2;
}

std::string per_second80(const BatchPoint& point) {
  const Interval interval = throughput80(point);
  return with_interval80(point.throughput.per_s, interval) + " samples/s";
}

Finding predicted_saturation(const BatchSeries& series) {
  Finding finding = finding_of("ceiling_batch", "samples", series.names());
  if (!series.saturation) {
    finding.claim = fmt::format("The saturation batch of {} needs at least 2 batches.", series.label);
    return finding;
  }
  const Saturation& saturation = *series.saturation;
  const BatchPoint& point = series.at_saturation();
  finding.value = static_cast<double>(point.batch);
  finding.evidence = {point.name};
  finding.details = {{"best_batch", saturation.best_batch},
                     {"best_per_s", saturation.best_per_s},
                     {"may_lie_beyond", saturation.at_largest}};
  finding.claim = saturation.at_largest
                      ? fmt::format("{} may saturate beyond batch {}, the largest: {}.", series.label,
                                    point.batch, per_second80(point))
                      : fmt::format("{} saturates at batch {}: {}, at least {} of the best.", series.label,
                                    point.batch, per_second80(point), format_percent(kSaturatedShare));
  return finding;
}

}  // namespace bench::sweeps
