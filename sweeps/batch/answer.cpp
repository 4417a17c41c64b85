#include "sweeps/batch/answer.h"

#include <algorithm>

#include "sweeps/batch/findings.h"

namespace bench::sweeps {
namespace {

// The one with the highest lower bound.
const ThroughputPoint& surest_throughput(const BatchSeries& series) {
  return std::ranges::max_element(series.timed, {},
                                  [](const BatchPoint& point) { return point.throughput.low(); })
      ->throughput;
}

// Measured dtypes each at its best; predicted ones at one batch, where what they err in together cancels.
bool is_surely_faster(const BatchSeries& one, const BatchSeries& other) {
  if (!one.is_predicted()) {
    return surest_throughput(one).low() > surest_throughput(other).high();
  }
  const std::optional<Ratio> quoted = speedups_of(one, other).quoted;
  return quoted && quoted->low() > 1;
}

// The first dtype that no later one is significantly faster than: a gain within the noise is no reason to
// leave fp32.
const BatchSeries* choose(const std::vector<BatchSeries>& all) {
  const BatchSeries* chosen = nullptr;
  for (const BatchSeries& series : all) {
    if (!series.timed.empty() && (chosen == nullptr || is_surely_faster(series, *chosen))) {
      chosen = &series;
    }
  }
  return chosen;
}

}  // namespace

BatchAnswer answer_of(const std::vector<BatchSeries>& all) {
  BatchAnswer answer;
  answer.series = choose(all);
  if (answer.series == nullptr) {
    return answer;
  }
  const BatchSeries& series = *answer.series;
  answer.point = &series.at_saturation();
  if (series.saturation) {
    answer.state = series.saturation->state;
    if (answer.state == SaturationState::undecided) {
      answer.point = series.at(series.saturation->best_batch);
    }
  }
  return answer;
}

}  // namespace bench::sweeps
