// Across dtypes: what the narrower one buys, and what to use.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "bench/measure/comparison.h"
#include "bench/measure/units.h"
#include "sweeps/batch/claims.h"

namespace bench::sweeps {
namespace {

// Share of the cap in use: below 90 % safe, to 95 % tight, above danger.
std::string_view headroom_class(double share) {
  if (share < 0.90) {
    return "safe";
  }
  return share <= 0.95 ? "tight" : "danger";
}

std::string memory_in_words(const BatchPoint& point, const std::optional<std::int64_t>& cap) {
  if (point.bytes <= 0) {
    return "";
  }
  if (!cap || *cap <= 0) {
    return fmt::format(" in {}", format_bytes(point.bytes));
  }
  const double share = static_cast<double>(point.bytes) / static_cast<double>(*cap);
  return fmt::format(" in {}, {} of the {} cap ({})", format_bytes(point.bytes), format_percent(share),
                     format_bytes(*cap), headroom_class(share));
}

const BatchPoint* ceiling_point(const BatchSeries& series) {
  const BatchPoint* point =
      series.ceiling && series.ceiling->batch ? series.at(*series.ceiling->batch) : nullptr;
  return point != nullptr && !point->few_rounds ? point : nullptr;
}

// The point of the highest certain throughput, of those with rounds enough.
const BatchPoint* surest_point(const BatchSeries& series) {
  const BatchPoint* surest = nullptr;
  for (const BatchPoint& point : series.timed) {
    if (!point.few_rounds && (surest == nullptr || point.throughput.ci95.low > surest->throughput.ci95.low)) {
      surest = &point;
    }
  }
  return surest;
}

struct Choice {
  const BatchSeries* series = nullptr;
  const BatchPoint* point = nullptr;
  bool at_ceiling = false;
};

// Surely faster than the choice, and than what the choice's dtype reached at its best: a ceiling is 5 % below
// that, which must not pass for another dtype's gain.
bool beats(const BatchPoint& point, const Choice& choice) {
  const double best = std::max(choice.point->throughput.ci95.high,
                               choice.at_ceiling ? choice.series->ceiling->best_per_s : 0);
  return point.throughput.ci95.low > best;
}

// The first, in the order of the dtypes, that no later one is surely faster than: a gain within the noise is
// no reason to leave fp32. First by ceilings; then a dtype whose ceiling is unclear still wins where it was
// surely faster anyway.
std::optional<Choice> choose(const std::vector<BatchSeries>& all) {
  std::optional<Choice> chosen;
  for (const BatchSeries& series : all) {
    const BatchPoint* point = ceiling_point(series);
    if (point != nullptr && (!chosen || point->throughput.ci95.low > chosen->point->throughput.ci95.high)) {
      chosen = Choice{&series, point, true};
    }
  }
  if (!chosen) {
    return std::nullopt;
  }
  for (const BatchSeries& series : all) {
    const BatchPoint* surest = surest_point(series);
    if (&series != chosen->series && surest != nullptr && beats(*surest, *chosen)) {
      const BatchPoint* placed = ceiling_point(series);
      chosen = Choice{&series, placed != nullptr ? placed : surest, placed != nullptr};
    }
  }
  return chosen;
}

std::string unclear_in_words(const BatchSeries& series) {
  if (!series.ceiling) {
    return "; its ceiling is unclear, as no other batch was measured";
  }
  return fmt::format("; its ceiling is unclear, as the points are noisy ({} may be it)",
                     batches_in_words(series.ceiling->low, series.ceiling->high));
}

// Of a ceiling at the largest batch measured.
std::string beyond_in_words(const BatchSeries& series, std::int64_t batch,
                            std::optional<std::int64_t> largest) {
  if (series.smallest_oom) {
    return fmt::format("; throughput was still growing there, but batch {} does not fit",
                       *series.smallest_oom);
  }
  if (largest && *largest < 2 * batch) {
    return fmt::format("; throughput was still growing there, but memory ends at batch {}", *largest);
  }
  return "; throughput was still growing there, so measure larger batches (--batch, or a longer "
         "--time-budget) before you decide";
}

std::string larger_in_words(const BatchSeries& series, std::int64_t batch) {
  const auto largest =
      series.memory && series.cap_bytes ? series.memory->largest_batch(*series.cap_bytes) : std::nullopt;
  if (series.ceiling->at_largest) {
    return beyond_in_words(series, batch, largest);
  }
  const std::int64_t fits = std::max(largest.value_or(0), series.points.back().batch);
  const double gain = std::max(series.ceiling->best_per_s / series.ceiling->per_s - 1, 0.0);
  constexpr double kNothing = 0.005;  // format_percent would show it as 0 % or 1 %
  if (gain < kNothing) {
    return fmt::format("; up to batch {} would fit, but no larger one was faster", fits);
  }
  return fmt::format("; up to batch {} would fit, but buys at most {} more", fits, format_percent(gain));
}

// Why no dtype's ceiling could be placed.
std::string no_advice(const std::vector<BatchSeries>& all) {
  const auto noisy = std::ranges::find_if(all, [](const BatchSeries& s) { return s.ceiling.has_value(); });
  if (noisy == all.end()) {
    return "There is no batch to recommend yet: it takes at least 2 batch sizes of one dtype.";
  }
  if (std::ranges::none_of(all, [](const BatchSeries& s) { return surest_point(s) != nullptr; })) {
    return "There is no batch to recommend: all points were measured in less than 3 rounds (few_rounds); run "
           "again with a longer --time-budget.";
  }
  return fmt::format(
      "There is no batch to recommend: the points are too few or too noisy, and in {} {} may be where "
      "throughput ends; a longer --time-budget or a quieter machine would tell.",
      noisy->dtype, batches_in_words(noisy->ceiling->low, noisy->ceiling->high));
}

std::vector<ThroughputPoint> solid_throughputs(const BatchSeries& series) {
  std::vector<ThroughputPoint> solid;
  for (const BatchPoint& point : series.points) {
    if (!point.few_rounds) {
      solid.push_back(point.throughput);
    }
  }
  return solid;
}

bool share_a_batch(const BatchSeries& one, const BatchSeries& other) {
  return std::ranges::any_of(one.points, [&](const BatchPoint& p) { return other.at(p.batch) != nullptr; });
}

// An interval around 1 this narrow shows that there is no difference worth a choice; a wider one shows
// nothing.
bool shows_equality(const Interval& ratio) {
  return ratio.low >= 0.9 && ratio.high <= 1.1;
}

}  // namespace

Finding claim_speedup(const BatchSeries& series, const BatchSeries& baseline) {
  Finding finding = finding_of("speedup_" + series.dtype, "ratio");
  const auto ratios = throughput_ratios(solid_throughputs(series), solid_throughputs(baseline));
  const auto mean = mean_ratio(ratios);
  if (!mean && share_a_batch(series, baseline)) {
    finding.claim = fmt::format(
        "{} and {} cannot be compared: at every batch measured in both, one has less than 3 rounds "
        "(few_rounds); run again with a longer --time-budget.",
        series.dtype, baseline.dtype);
    return finding;
  }
  if (!mean) {
    finding.claim = fmt::format("No batch was measured in both {} and {}, so they cannot be compared.",
                                series.dtype, baseline.dtype);
    return finding;
  }
  finding.details = {{"mean_ratio", mean->ratio}, {"by_batch", Json::array()}};
  for (const BatchRatio& each : ratios) {
    finding.details["by_batch"].push_back({{"batch", each.batch}, {"ratio", each.ratio}});
    finding.evidence.push_back(series.at(each.batch)->name);
    finding.evidence.push_back(baseline.at(each.batch)->name);
  }
  // At the batch one would use, where both have it.
  const std::int64_t wanted = series.ceiling ? series.ceiling->batch.value_or(0) : 0;
  const auto at_ceiling = std::ranges::find(ratios, wanted, &BatchRatio::batch);
  const bool shared = at_ceiling != ratios.end();
  const BatchRatio& chosen = shared ? *at_ceiling : *mean;
  finding.value = chosen.ratio;
  finding.ci95 = chosen.ci95;
  const std::string where = shared ? fmt::format("at batch {}", chosen.batch)
                            : ratios.size() == 1
                                ? fmt::format("at batch {}, the only one to compare at", ratios[0].batch)
                                : fmt::format("on the geometric mean of {} batches", ratios.size());
  const std::string range =
      fmt::format("{:.2f} ({:.2f} to {:.2f})", chosen.ratio, chosen.ci95.low, chosen.ci95.high);
  const bool open = chosen.ci95.low <= 1 && chosen.ci95.high >= 1;
  if (open && !shows_equality(chosen.ci95)) {
    finding.claim = fmt::format("The speeds of {} and {} cannot be told apart {}: {} times as fast.",
                                series.dtype, baseline.dtype, where, range);
  } else if (open) {
    finding.claim = fmt::format("{}, {} against {} shows no difference in speed: {} times as fast.", where,
                                series.dtype, baseline.dtype, range);
    finding.claim.front() = static_cast<char>(std::toupper(finding.claim.front()));
  } else {
    finding.claim =
        fmt::format("{} is {} times as fast as {} {}.", series.dtype, range, baseline.dtype, where);
  }
  std::vector<BatchPoint> compared;
  for (const BatchRatio& each : ratios) {
    if (!shared || each.batch == chosen.batch) {
      compared.push_back(*series.at(each.batch));
      compared.push_back(*baseline.at(each.batch));
    }
  }
  finding.claim = with_caveat(std::move(finding.claim), compared);
  return finding;
}

Finding claim_memory_ratio(const BatchSeries& series, const BatchSeries& baseline) {
  Finding finding = finding_of("memory_ratio_" + series.dtype, "ratio");
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
    finding.claim = fmt::format("No batch's memory was measured in both {} and {}, so it cannot be compared.",
                                series.dtype, baseline.dtype);
    return finding;
  }
  finding.value = static_cast<double>(one->bytes) / static_cast<double>(other->bytes);
  finding.evidence = {one->name, other->name};
  finding.details = {{"batch", one->batch}, {"bytes", one->bytes}, {"baseline_bytes", other->bytes}};
  finding.claim = fmt::format("At batch {} {} needs {} where {} needs {}: {} of it.", one->batch,
                              series.dtype, format_bytes(one->bytes), baseline.dtype,
                              format_bytes(other->bytes), format_percent(*finding.value));
  return finding;
}

Finding recommend(const std::vector<BatchSeries>& all) {
  Finding finding = finding_of("recommendation", "samples");
  const auto choice = choose(all);
  if (!choice) {
    finding.claim = no_advice(all);
    return finding;
  }
  const BatchSeries* best = choice->series;
  const BatchPoint& point = *choice->point;
  const std::int64_t batch = point.batch;
  finding.value = static_cast<double>(batch);
  finding.evidence = {point.name};
  finding.details = {{"dtype", best->dtype}, {"batch", batch}, {"per_s", point.throughput.per_s}};
  if (point.bytes > 0 && best->cap_bytes && *best->cap_bytes > 0) {
    const double share = static_cast<double>(point.bytes) / static_cast<double>(*best->cap_bytes);
    finding.details["cap_share"] = share;
    finding.details["headroom"] = headroom_class(share);
  }
  finding.claim = fmt::format("Use batch {} in {}{}: {} samples/s{}{}.", batch, best->dtype,
                              best->dtype == "fp32" ? "" : ", if its accuracy suffices",
                              format_number(point.throughput.per_s), memory_in_words(point, best->cap_bytes),
                              choice->at_ceiling ? larger_in_words(*best, batch) : unclear_in_words(*best));
  finding.details["ceiling_placed"] = choice->at_ceiling;
  finding.claim = with_caveat(std::move(finding.claim), {point});
  return finding;
}

}  // namespace bench::sweeps
