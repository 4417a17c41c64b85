// Which dtype and batch to use.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/stats/memory_line.h"
#include "bench/text/units.h"
#include "sweeps/batch/answer.h"
#include "sweeps/batch/findings.h"

namespace bench::sweeps {
namespace {

std::string memory_in_words(const CurvePoint& point, const std::optional<double>& cap_share) {
  if (point.bytes <= 0) {
    return "";
  }
  constexpr double kSmall = 0.01;  // of the cap: not worth a word
  if (!cap_share || *cap_share < kSmall) {
    return fmt::format(" in {}", format_bytes(point.bytes));
  }
  return fmt::format(" in {} ({} of the cap, {})", format_bytes(point.bytes), format_percent(*cap_share),
                     headroom(*cap_share));
}

// What the time budget left out.
std::string not_measured(const BatchSeries& series) {
  return series.ran_out_of_time ? ", and there was no time for larger ones" : "";
}

// Where no interval proves a batch: how far apart those are that may be the saturation batch.
std::string range_in_words(const BatchSeries& series) {
  const Saturation& saturation = *series.fits.saturation;
  if (saturation.low == series.timed.back().batch) {
    return fmt::format("; it grows up to the largest measured{}", not_measured(series));
  }
  double least = saturation.best_per_s;
  for (const CurvePoint& point : series.timed) {
    if (point.batch >= saturation.low) {
      least = std::min(least, point.per_s);
    }
  }
  return fmt::format("; batches from {} on differ by {} at most, within noise", saturation.low,
                     format_percent(1 - least / saturation.best_per_s));
}

// The most that larger batches may gain: the highest upper end of theirs over this one's lower end; of those
// whose interval is narrower than ±10 %, where there are any. For a saturation batch below the largest, which
// has a lower end.
std::string larger_in_words(const BatchSeries& series, const CurvePoint& point) {
  constexpr double kNothing = 0.005;  // format_percent would show it as 0 % or 1 %
  constexpr double kWide = 0.1;
  double most = 0;
  std::vector<std::int64_t> wide;
  for (const CurvePoint& other : series.timed) {
    if (other.batch > point.batch) {
      const ThroughputPoint rate = other.throughput();
      if (std::isfinite(rate.high()) && rate.high() - rate.low() > 2 * kWide * rate.per_s) {
        wide.push_back(other.batch);
      } else {
        most = std::max(most, rate.high());
      }
    }
  }
  const std::string but =
      wide.empty() ? "" : fmt::format("; batch {} was too noisy to judge", fmt::join(wide, ", "));
  if (most == 0) {
    return "; noise hides what larger batches bring";
  }
  const double gain = most / point.throughput().low() - 1;
  return !std::isfinite(gain) ? "; what larger batches bring is not known, one has no interval"
         : gain < kNothing    ? fmt::format("; larger batches bring nothing{}", but)
                              : fmt::format("; larger batches bring {} at most{}", format_percent(gain), but);
}

// Why a series whose throughput grows to its end has no larger batch.
enum class End { does_not_fit, memory, not_predicted, open };

End end_of(const BatchSeries& series, std::int64_t batch) {
  const std::optional<std::int64_t>& largest = series.largest;
  return series.smallest_oom               ? End::does_not_fit
         : largest && *largest < 2 * batch ? End::memory
         : series.is_predicted()           ? End::not_predicted
                                           : End::open;
}

std::string end_in_words(const BatchSeries& series, std::int64_t batch) {
  switch (end_of(series, batch)) {
    case End::does_not_fit:
      return fmt::format("; it still grows, but batch {} does not fit", *series.smallest_oom);
    case End::memory:
      return fmt::format("; it still grows, but memory ends at batch {}", *series.largest);
    case End::not_predicted:
      return "; it still grows, but no larger batch was asked for";
    case End::open:
      break;
  }
  return "; it still grows" + not_measured(series);
}

std::optional<std::string> accuracy_in_words(const BatchSeries& series) {
  return series.params.dtype == Dtype::fp32
             ? std::nullopt
             : std::optional(fmt::format("check that {} is accurate enough", name_of(series.params.dtype)));
}

// Few rounds and noise are the warning line's to say.
std::vector<std::string> actions(const BatchSeries& series, const CurvePoint& point) {
  std::vector<std::string> actions;
  const Saturation& saturation = *series.fits.saturation;
  const bool grows = saturation.batch && saturation.at_largest;
  if (grows && end_of(series, point.batch) == End::open && !point.few_rounds) {
    actions.emplace_back(measure_larger());
  }
  if (std::optional<std::string> accuracy = accuracy_in_words(series)) {
    actions.push_back(*std::move(accuracy));
  }
  return actions;
}

std::string in_brackets(const std::vector<std::string>& actions) {
  return actions.empty() ? "" : fmt::format(" [{}]", fmt::join(actions, "; "));
}

std::string flat_in_words(const BatchSeries& series, const CurvePoint& smallest) {
  const std::int64_t alike_to = series.fits.saturation->alike_to;
  std::vector<std::string> to_do;
  if (std::optional<std::string> accuracy = accuracy_in_words(series)) {
    to_do.push_back(*std::move(accuracy));
  }
  constexpr double kDifference = 0.05;
  if (const auto best =
          std::ranges::find(series.timed, series.fits.saturation->best_batch, &CurvePoint::batch);
      best != series.timed.end() && best->per_s > (1 + kDifference) * smallest.per_s) {
    return fmt::format(
        "Batches {} to {} in {} differ by no more than their noise: {} at {}, {} at {}; {} has the lowest "
        "latency{}.",
        smallest.batch, alike_to, name_of(series.params.dtype), per_second(smallest), smallest.batch,
        per_second(*best), best->batch, smallest.batch, in_brackets(to_do));
  }
  return fmt::format("Batch makes no difference from {} to {} in {}: {}{}; {} has the lowest latency{}.",
                     smallest.batch, alike_to, name_of(series.params.dtype), per_second(smallest),
                     alike_to < series.timed.back().batch ? ", larger ones are slower" : "", smallest.batch,
                     in_brackets(to_do));
}

std::string undecided_in_words(const BatchSeries& series, const CurvePoint& fastest) {
  const std::int64_t low = series.fits.saturation->low;
  const bool busy = std::ranges::any_of(series.timed, &CurvePoint::contended);
  return fmt::format("Cannot tell which batch{} is best: {}; batch {} was fastest in {}, {} [{}].",
                     low > series.timed.front().batch ? fmt::format(" from {} on", low) : "",
                     busy                                      ? "the machine was busy"
                     : series.fits.saturation->intervals_known ? "the rounds differ too much"
                                                               : "there were too few rounds",
                     fastest.batch, name_of(series.params.dtype), per_second(fastest),
                     busy ? "run on an idle machine" : give_time());
}

Finding only_batch(const BatchSeries& series, Finding finding) {
  const CurvePoint& point = series.timed.front();
  finding.evidence = {point.name()};
  const std::string reason =
      series.ran_out_of_time  ? fmt::format("no second batch was measured{} [{}]",
                                           point.contended ? ", as the machine was busy" : "", give_time())
      : series.smallest_oom   ? fmt::format("batch {} does not fit", *series.smallest_oom)
      : series.is_predicted() ? "no second batch was predicted"
                              : fmt::format("no second batch was measured [{}]", measure_larger());
  finding.claim = fmt::format("Batch {} in {} does {}{}; {}.", point.batch, name_of(series.params.dtype),
                              per_second(point), memory_in_words(point, std::nullopt), reason);
  return finding;
}

}  // namespace

Finding claim_recommendation(const BatchAnswer& answer, const ResultDocument& document) {
  Finding finding = finding_of("recommendation", "samples");
  if (answer.series == nullptr) {
    const bool for_time = std::ranges::any_of(document.unmeasured, &UnmeasuredPoint::lacked_time);
    finding.claim = fmt::format("No batch{}{}.", is_predicted(document) ? "" : " was measured",
                                for_time ? fmt::format(" [{}]", give_time()) : "");
    return finding;
  }
  const BatchSeries& series = *answer.series;
  if (!answer.state) {
    return only_batch(series, std::move(finding));
  }
  const CurvePoint& point = *answer.point;
  const Saturation& saturation = *series.fits.saturation;
  if (answer.is_advice()) {
    finding.value = static_cast<double>(point.batch);
  }
  finding.evidence = {point.name()};
  finding.details = {{"dtype", name_of(series.params.dtype)},
                     {"state", name_of(*answer.state)},
                     {"batch", point.batch},
                     {"per_s", point.per_s}};
  if (const std::optional<Interval> interval = point.shown_interval(); point.is_predicted && interval) {
    finding.details["interval80_per_s"] = {interval->low, interval->high};
  }
  std::optional<double> cap_share;
  if (point.bytes > 0 && series.cap_bytes && *series.cap_bytes > 0) {
    cap_share = static_cast<double>(point.bytes) / static_cast<double>(*series.cap_bytes);
    finding.details["cap_share"] = *cap_share;
    finding.details["headroom"] = headroom(*cap_share);
  }
  finding.details["ceiling_placed"] = saturation.batch.has_value();
  if (answer.state != SaturationState::placed) {
    finding.claim = answer.state == SaturationState::flat ? flat_in_words(series, point)
                                                          : undecided_in_words(series, point);
    return finding;
  }
  const std::string reason = !saturation.batch       ? range_in_words(series)
                             : saturation.at_largest ? end_in_words(series, point.batch)
                                                     : larger_in_words(series, point);
  finding.claim = fmt::format("Use batch {} in {}: {}{}{}{}.", point.batch, name_of(series.params.dtype),
                              per_second(point), memory_in_words(point, cap_share), reason,
                              in_brackets(actions(series, point)));
  return finding;
}

}  // namespace bench::sweeps
