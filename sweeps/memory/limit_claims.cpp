// Which batch fits, and whether it goes on fitting.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/measure/headroom.h"
#include "bench/measure/units.h"
#include "sweeps/memory/claims.h"

namespace bench::sweeps {
namespace {

// How many of the limits were tried, and whether they are where the plan has them.
std::string proof_in_words(const std::vector<Limit>& limits, std::size_t proved, std::size_t agreed) {
  if (proved == 0) {
    return ", by plan, not tried here";
  }
  if (agreed == limits.size()) {
    return ", proved by allocating";
  }
  return fmt::format("; {} of {} limits {} tried{}", proved, limits.size(), proved == 1 ? "was" : "were",
                     agreed < proved
                         ? fmt::format(", {} as planned", agreed == 0 ? "none" : fmt::format("{}", agreed))
                     : proved == 1 ? " and fits"
                                   : " and fit");
}

// Below 90 % of the cap by plan, and no larger than what was proved.
std::int64_t safe_batch(const Limit& limit) {
  return std::min(limit.safe_batch, limit.known_largest());
}

// What an operation cannot do is no limit of the memory: "; more than batch 40 of … is unsupported: …".
std::string unsupported_in_words(const std::vector<Limit>& limits) {
  const auto refused = [](const Limit& limit) { return !limit.next_unsupported.empty(); };
  const auto first = std::ranges::find_if(limits, refused);
  if (first == limits.end()) {
    return {};
  }
  const auto others = std::ranges::count_if(limits, refused) - 1;
  return fmt::format("; more than batch {} of {}{} is unsupported: {}", first->largest_batch, first->label,
                     others == 0 ? "" : fmt::format(" (and {} others)", others), first->next_unsupported);
}

// "use up to batch 34 of fp32 inference (safe); the largest that fits is 40 (100 %, danger)".
std::string fit_in_words(const Limit& limit) {
  const std::int64_t largest = limit.known_largest();
  if (largest == 0) {
    return limit.fixed_part_is_too_large()
               ? fmt::format("no {} (its fixed part takes {})", limit.label, format_bytes(limit.fixed_bytes))
               : fmt::format("no {} (batch {} needs {}, of which its fixed part takes {})", limit.label,
                             limit.smallest_batch, format_bytes(limit.smallest_bytes),
                             format_bytes(limit.fixed_bytes));
  }
  if (largest != limit.largest_batch) {  // a plan that is wrong about one says nothing about the other
    return fmt::format("use at most batch {} of {} (the plan says {})", largest, limit.label,
                       limit.largest_batch);
  }
  const double share =
      static_cast<double>(limit.largest_bytes.value_or(0)) / static_cast<double>(limit.cap_bytes);
  const std::string of_cap = fmt::format("{}, {}", format_percent(share), name_of(headroom(share)));
  const std::int64_t safe = safe_batch(limit);
  return safe == largest ? fmt::format("use up to batch {} of {} ({})", safe, limit.label, of_cap)
         : safe == 0 ? fmt::format("no batch of {} is safe; the largest that fits is {} ({})", limit.label,
                                   largest, of_cap)
                     : fmt::format("use up to batch {} of {} (safe); the largest that fits is {} ({})", safe,
                                   limit.label, largest, of_cap);
}

std::string ends_in_words(const std::vector<Limit>& limits, std::int64_t (*batch_of)(const Limit&)) {
  const auto [least, most] = std::ranges::minmax_element(limits, {}, batch_of);
  return limits.size() == 1 ? fmt::format("batch {} ({})", batch_of(*least), least->label)
                            : fmt::format("batch {} ({}) to {} ({})", batch_of(*least), least->label,
                                          batch_of(*most), most->label);
}

// The two ends of many series: "safe: batch 34 (fp32 training) to 710 (bf16 inference)". Each series has a
// row in the table, which shows the largest that fits too.
std::string range_in_words(const std::vector<Limit>& limits) {
  std::vector<Limit> fitting;
  std::vector<Limit> safe;
  for (const Limit& limit : limits) {
    if (limit.known_largest() > 0) {
      fitting.push_back(limit);
    }
    if (safe_batch(limit) > 0) {
      safe.push_back(limit);
    }
  }
  if (fitting.empty()) {
    return "no batch fits";
  }
  const auto share = [&](const std::vector<Limit>& some) {
    return some.size() == limits.size() ? "" : fmt::format(", {} of {} series", some.size(), limits.size());
  };
  if (safe.empty()) {
    return fmt::format("no batch is safe; {}{} fits",
                       ends_in_words(fitting, [](const Limit& limit) { return limit.known_largest(); }),
                       share(fitting));
  }
  return fmt::format("safe: {}{}", ends_in_words(safe, safe_batch), share(safe));
}

// The cap is below the fixed part of every series.
std::string nothing_fits(const std::vector<Limit>& limits) {
  const Limit& fixed = *std::ranges::min_element(limits, {}, &Limit::fixed_bytes);
  const Limit& smallest = *std::ranges::min_element(limits, {}, &Limit::smallest_bytes);
  return fmt::format("Nothing fits in {}: the fixed part alone takes {} ({}) [give {}, for batch {} of {}].",
                     format_bytes(fixed.cap_bytes), format_bytes(fixed.fixed_bytes), fixed.label,
                     format_bytes(smallest.smallest_bytes), smallest.smallest_batch, smallest.label);
}

std::string signed_bytes(double bytes) {
  return fmt::format("{}{}", bytes < 0 ? "-" : "", format_bytes(std::llround(std::abs(bytes))));
}

Finding claim_of_cap(std::int64_t cap, const std::vector<Limit>& limits) {
  Finding finding = finding_of(fmt::format("largest_batch/{}", cap), "samples");
  std::size_t proved = 0;
  std::size_t agreed = 0;
  std::int64_t largest = 0;
  std::vector<std::string> words;
  for (const Limit& limit : limits) {
    const bool tried = limit.proof && limit.proof->not_tried.empty();
    proved += tried ? 1 : 0;
    agreed += tried && limit.proof->largest_batch == limit.largest_batch ? 1 : 0;
    largest = std::max(largest, limit.known_largest());
    words.push_back(fit_in_words(limit));
  }
  finding.value = static_cast<double>(largest);
  finding.details = {{"cap_bytes", cap}, {"series", limits.size()}};
  if (std::ranges::all_of(limits, &Limit::fixed_part_is_too_large)) {
    finding.claim = nothing_fits(limits);
    return finding;
  }
  finding.details["proved"] = proved;
  finding.details["agreed"] = agreed;
  constexpr std::size_t kNamed = 2;
  finding.claim = fmt::format(
      "Within {}{} {}{}{}.", format_bytes(cap), limits.size() <= kNamed ? ":" : ",",
      limits.size() <= kNamed ? fmt::format("{}", fmt::join(words, "; ")) : range_in_words(limits),
      proof_in_words(limits, proved, agreed), unsupported_in_words(limits));
  return finding;
}

}  // namespace

std::vector<Finding> claim_largest(const std::vector<Limit>& limits) {
  std::map<std::int64_t, std::vector<Limit>> by_cap;
  for (const Limit& limit : limits) {
    by_cap[limit.cap_bytes].push_back(limit);
  }
  std::vector<Finding> findings;
  for (const auto& [cap, of_cap] : by_cap) {
    findings.push_back(claim_of_cap(cap, of_cap));
  }
  return findings;
}

std::optional<Finding> claim_left_out_limits(const MemoryState& state) {
  if (!state.limits_left_out) {
    return std::nullopt;
  }
  const auto& [count, reason] = *state.limits_left_out;
  Finding finding = finding_of("limits_left_out", "limits");
  finding.value = static_cast<double>(count);
  finding.claim = fmt::format(
      "Largest batches by plan: {} of {} are missing, because {} [give a larger "
      "--time-budget].",
      count, count + static_cast<std::int64_t>(state.limits.size()), reason);
  return finding;
}

Finding claim_growth(const Soak& soak, const ResultDocument& document) {
  Finding finding = finding_of("memory_growth/" + soak.label, "bytes/step", {soak.point});
  const std::string what = fmt::format("Memory of {} at batch {}", soak.label, soak.batch);
  const std::string steps =
      soak.done_steps >= soak.wanted_steps
          ? fmt::format("{} steps", soak.done_steps)
          : fmt::format(
                "{} steps (of {} wanted: {})", soak.done_steps, soak.wanted_steps,
                soak.ended_by.empty() ? "the time budget ended, or the run was interrupted" : soak.ended_by);
  const auto growth = find_growth(soak.seen);
  if (!growth) {
    finding.claim = fmt::format("{}: {} are too few to tell growth from noise.", what, steps);
    return finding;
  }
  finding.set(growth->bytes_per_step);
  finding.details = {{"steps", soak.done_steps},
                     {"grows", growth->grows},
                     {"first_step", growth->first_step},
                     {"last_step", growth->last_step}};
  const std::string range =
      fmt::format("{} to {}", signed_bytes(finding.ci95->low), signed_bytes(finding.ci95->high));
  if (!growth->grows) {
    finding.claim = fmt::format("{} is steady over {}: growth is {} a step.", what, steps,
                                finding.ci95->high <= 0 ? "0 B" : range);
    return finding;
  }
  const auto tracked = find_growth(soak.tracked);
  finding.claim =
      fmt::format("{} grows by {} ({}) a step over {}, {} the device memory that the program asked for", what,
                  signed_bytes(*finding.value), range, steps, tracked && tracked->grows ? "in" : "outside");
  const std::int64_t cap = document.sweep.memory_cap_bytes.value_or(0);
  const auto point = std::ranges::find(document.benchmarks, soak.point, &MeasuredPoint::name);
  if (cap > 0 && point != document.benchmarks.end()) {
    const std::int64_t grown = soak.seen.back().bytes - soak.seen.front().bytes;
    const double left = growth->steps_until(cap - point->memory.peak_measured - grown).value_or(0);
    finding.details["steps_until_out_of_memory"] = left;
    finding.claim += fmt::format("; out of memory within {} after about {} more", format_bytes(cap),
                                 left < 1e6 ? fmt::format("{:.0f}", left) : fmt::format("{:.2g}", left));
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
