#include "sweeps/batch/answer.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "sweeps/batch/findings.h"

namespace bench::sweeps {
namespace {

// The one with the highest lower bound.
ThroughputPoint surest_throughput(const BatchSeries& series) {
  return std::ranges::max_element(series.timed, {},
                                  [](const CurvePoint& point) { return point.throughput().low(); })
      ->throughput();
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

std::vector<BatchSeries> batch_series(const ResultDocument& document) {
  std::vector<BatchSeries> all =
      read_series(document, [](const BatchParams& params) { return std::string(name_of(params.dtype)); });
  std::ranges::sort(all, {}, [](const BatchSeries& series) { return series.params.dtype; });
  return all;
}

std::string BatchAnswer::finding_name(std::string_view finding, const BatchSeries& of) const {
  return several ? fmt::format("{}/{}", finding, of.label) : std::string(finding);
}

BatchAnswer answer_of(const std::vector<BatchSeries>& all, const ResultDocument& document) {
  // By the axis rather than by what was measured so far: names must not change as points arrive.
  const Json& axes = document.sweep.axes;
  BatchAnswer answer{.series = choose(all),
                     .several = all.size() > 1 || (axes.contains("dtype") && axes["dtype"].size() > 1)};
  if (!all.empty() && all.front().params.dtype == Dtype::fp32) {
    answer.baseline = &all.front();
  }
  if (answer.series == nullptr) {
    return answer;
  }
  const BatchSeries& series = *answer.series;
  answer.point = &series.at_saturation();
  if (series.fits.saturation) {
    answer.state = series.fits.saturation->state;
    if (answer.state == SaturationState::undecided) {
      answer.point = &*std::ranges::max_element(  // also one of too few rounds
          series.points, {}, [](const CurvePoint& point) { return point.per_s; });
    }
  }
  return answer;
}

void choose_batch_headlines(const std::vector<BatchSeries>& all, const BatchAnswer& answer,
                            std::vector<Finding>& findings) {
  if (answer.series == nullptr) {
    return;
  }
  const BatchSeries& chosen = *answer.series;
  std::vector<std::string> names = {"recommendation"};
  for (const BatchSeries& series : all) {
    if (&series != &chosen) {
      names.push_back(answer.finding_name("ceiling_batch", series));
    }
  }
  for (const BatchSeries& series : all) {
    if (answer.baseline != nullptr && &series != answer.baseline) {
      names.push_back("speedup_" + series.label);
    }
  }
  names.resize(std::min<std::size_t>(names.size(), 3));
  for (const char* const name : {"largest_batch", "limit_below_ceiling", "t_inf"}) {
    names.push_back(answer.finding_name(name, chosen));
  }
  if (chosen.model && chosen.model->t0_above_zero) {
    names.push_back(answer.finding_name("t0", chosen));
  }
  set_headlines(findings, names);
}

}  // namespace bench::sweeps
