// Where throughput ends.
#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"

namespace bench::sweeps {
namespace {

// What the largest of the points is, behind an "at batch 64, ".
std::string largest_in_words(const BatchSeries& series) {
  return series.timed.back().batch == series.points.back().batch
             ? "the largest measured"
             : "the largest measured in at least 3 rounds";
}

}  // namespace

std::string too_few(const BatchSeries& series, std::string_view needs) {
  return fmt::format("{} needs at least 2 batch sizes in {}; {} measured so far.", needs, series.label,
                     series.points.empty() ? "none was" : "1 was");
}

std::string per_second(double throughput) {
  return format_number(throughput) + " samples/s";
}

Finding claim_ceiling(const BatchSeries& series) {
  Finding finding = finding_of("ceiling_batch", "samples", series.timed_names());
  if (!series.ceiling) {
    finding.claim = too_few(series, "The ceiling");
    return finding;
  }
  const Ceiling& ceiling = *series.ceiling;
  finding.details = {{"best_batch", ceiling.best_batch},
                     {"best_per_s", ceiling.best_per_s},
                     {"low", ceiling.low},
                     {"high", ceiling.high},
                     {"may_lie_beyond", ceiling.at_largest}};
  if (!ceiling.batch) {
    finding.claim = fmt::format(
        "In {} the points are too noisy to place the ceiling; their intervals allow {}{}.", series.label,
        ceiling.low == ceiling.high ? "only " : "", batches_in_words(ceiling.low, ceiling.high));
    finding.claim = with_caveat(std::move(finding.claim), series.timed);
    return finding;
  }
  finding.value = static_cast<double>(*ceiling.batch);
  finding.ci95 = Interval{static_cast<double>(ceiling.low), static_cast<double>(ceiling.high)};
  finding.evidence = {series.at(*ceiling.batch)->name};
  if (ceiling.best_batch != *ceiling.batch) {
    finding.evidence.push_back(series.at(ceiling.best_batch)->name);
  }
  if (ceiling.at_largest) {
    finding.claim =
        fmt::format("In {} throughput reaches {} at batch {}, {}: the ceiling may lie beyond.", series.label,
                    per_second(ceiling.per_s), *ceiling.batch, largest_in_words(series));
  } else if (ceiling.at_smallest) {
    finding.claim = fmt::format(
        "In {} batch {}, the smallest measured, already gives {}, at least 95 % of the best ({} at batch "
        "{}): a "
        "larger batch costs memory and buys next to nothing.",
        series.label, *ceiling.batch, per_second(ceiling.per_s), per_second(ceiling.best_per_s),
        ceiling.best_batch);
  } else {
    finding.claim = fmt::format(
        "In {} batch {} gives {}, at least 95 % of the best ({} at batch {}): larger batches cost memory and "
        "buy "
        "next to nothing.",
        series.label, *ceiling.batch, per_second(ceiling.per_s), per_second(ceiling.best_per_s),
        ceiling.best_batch);
  }
  finding.claim = with_caveat(std::move(finding.claim), series.timed);
  return finding;
}

Finding claim_left_out(const BatchSeries& series) {
  Finding finding = finding_of("left_out", "points", series.left_out);
  const bool one = series.left_out.size() == 1;
  finding.value = static_cast<double>(series.left_out.size());
  finding.claim = fmt::format(
      "In {} {} ran above the device's peak, which proves nothing, and {} left out of every other finding.",
      series.label, one ? "1 point" : fmt::format("{} points", series.left_out.size()), one ? "is" : "are");
  return finding;
}

}  // namespace bench::sweeps
