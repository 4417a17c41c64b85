// Which dtype and batch to use.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/result/finding.h"
#include "bench/stats/memory_line.h"
#include "bench/text/units.h"
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

std::string memory_in_words(const BatchPoint& point, const std::optional<double>& cap_share) {
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

// How far apart the batches are that may be the saturation batch.
std::string range_in_words(const BatchSeries& series) {
  const Saturation& saturation = *series.saturation;
  if (saturation.low == series.timed.back().batch) {
    return "; it grows up to the largest measured";
  }
  double least = saturation.best_per_s;
  for (const BatchPoint& point : series.timed) {
    if (point.batch >= saturation.low) {
      least = std::min(least, point.throughput.per_s);
    }
  }
  constexpr double kFarOff = 0.5;
  const double off = 1 - least / saturation.best_per_s;
  return off > kFarOff ? "; noise hides where throughput saturates"
                       : fmt::format("; medians of batches from {} on are within {} of the best",
                                     saturation.low, format_percent(off));
}

// The most that larger batches may gain: the highest upper end of theirs over this one's lower end; of those
// whose interval is narrower than ±10 %, where there are any. For a saturation batch below the largest, which
// has a lower end.
std::string larger_in_words(const BatchSeries& series, const BatchPoint& point) {
  constexpr double kNothing = 0.005;  // format_percent would show it as 0 % or 1 %
  constexpr double kWide = 0.1;
  double most = 0;
  std::vector<std::int64_t> wide;
  for (const BatchPoint& other : series.timed) {
    if (other.batch > point.batch) {
      const ThroughputPoint& rate = other.throughput;
      if (std::isfinite(rate.high()) && rate.high() - rate.low() > 2 * kWide * rate.per_s) {
        wide.push_back(other.batch);
      } else {
        most = std::max(most, rate.high());
      }
    }
  }
  const std::string but =
      wide.empty()
          ? ""
          : fmt::format(", as far as known: the interval of batch {} is too wide", fmt::join(wide, ", "));
  if (most == 0) {
    return "; noise hides what larger batches gain";
  }
  const double gain = most / point.throughput.low() - 1;
  return !std::isfinite(gain) ? "; the gain of larger batches is not known, one has no interval"
         : gain < kNothing    ? fmt::format("; larger batches gain nothing{}", but)
                              : fmt::format("; larger batches gain at most {}{}", format_percent(gain), but);
}

std::string end_in_words(const BatchSeries& series, std::int64_t batch) {
  const auto largest = series.largest_batch();
  if (series.smallest_oom) {
    return fmt::format("; it still grows, but batch {} does not fit", *series.smallest_oom);
  }
  if (largest && *largest < 2 * batch) {
    return fmt::format("; it still grows, but memory ends at batch {}", *largest);
  }
  return series.is_predicted() ? "; it still grows, but no larger batch was asked for" : "; it still grows";
}

// Few rounds and noise are the warning line's to say.
std::vector<std::string> actions(const BatchSeries& series, const BatchPoint& point,
                                 const std::string& reason) {
  std::vector<std::string> actions;
  if (series.params.dtype != Dtype::fp32) {
    actions.emplace_back("if its accuracy suffices");
  }
  if (reason == "; it still grows" && !point.few_rounds) {
    actions.emplace_back(kMeasureLarger);
  }
  return actions;
}

Finding only_batch(const BatchSeries& series, Finding finding) {
  const BatchPoint& point = series.timed.front();
  finding.evidence = {point.name};
  const std::string reason =
      series.ran_out_of_time  ? fmt::format("no second batch was measured [{}]", kGiveTime)
      : series.smallest_oom   ? fmt::format("batch {} does not fit", *series.smallest_oom)
      : series.is_predicted() ? "no second batch was predicted"
                              : fmt::format("no second batch was measured [{}]", kMeasureLarger);
  finding.claim = fmt::format("Batch {} in {} does {}{}; {}.", point.batch, name_of(series.params.dtype),
                              per_second(point), memory_in_words(point, std::nullopt), reason);
  return finding;
}

}  // namespace

Finding claim_recommendation(const std::vector<BatchSeries>& all, const ResultDocument& document) {
  Finding finding = finding_of("recommendation", "samples");
  const BatchSeries* const chosen = choose(all);
  if (chosen == nullptr) {
    const bool for_time = std::ranges::any_of(document.unmeasured, &UnmeasuredPoint::lacked_time);
    finding.claim = fmt::format("No batch was {}{}.",
                                document.context.device.kind == "modelled" ? "predicted" : "measured",
                                for_time ? fmt::format(" [{}]", kGiveTime) : "");
    return finding;
  }
  if (!chosen->saturation) {
    return only_batch(*chosen, std::move(finding));
  }
  const BatchPoint& point = chosen->at_saturation();
  const Saturation& saturation = *chosen->saturation;
  finding.value = static_cast<double>(point.batch);
  finding.evidence = {point.name};
  finding.details = {
      {"dtype", name_of(chosen->params.dtype)}, {"batch", point.batch}, {"per_s", point.throughput.per_s}};
  if (const std::optional<Interval> interval = point.interval(); point.is_predicted() && interval) {
    finding.details["interval80_per_s"] = {interval->low, interval->high};
  }
  std::optional<double> cap_share;
  if (point.bytes > 0 && chosen->cap_bytes && *chosen->cap_bytes > 0) {
    cap_share = static_cast<double>(point.bytes) / static_cast<double>(*chosen->cap_bytes);
    finding.details["cap_share"] = *cap_share;
    finding.details["headroom"] = headroom(*cap_share);
  }
  finding.details["ceiling_placed"] = saturation.batch.has_value();
  const std::string reason = !saturation.batch       ? range_in_words(*chosen)
                             : saturation.at_largest ? end_in_words(*chosen, point.batch)
                                                     : larger_in_words(*chosen, point);
  const std::vector<std::string> to_do = actions(*chosen, point, reason);
  finding.claim = fmt::format("Use batch {} in {}: {}{}{}{}.", point.batch, name_of(chosen->params.dtype),
                              per_second(point), memory_in_words(point, cap_share), reason,
                              to_do.empty() ? "" : fmt::format(" [{}]", fmt::join(to_do, "; ")));
  return finding;
}

}  // namespace bench::sweeps
