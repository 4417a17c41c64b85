// Findings of the limits, for each cap, and their table.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/stats/memory_line.h"
#include "bench/text/units.h"
#include "sweeps/memory/answer.h"
#include "sweeps/memory/limits.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {
namespace {

bool lacked_time(const Limit& limit) {
  return limit.proof && limit.proof->not_tried == kNoTimeToTry;
}

// How many of the limits were tried, and whether they are where the plan has them.
std::string proof_in_words(const std::vector<Limit>& limits, std::size_t proved, std::size_t agreed) {
  if (proved == 0) {
    return std::ranges::any_of(limits, [](const Limit& limit) { return limit.proof.has_value(); })
               ? ", by plan, not tried"  // the table's title says why
               : ", by plan";
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

// An operation's limit is none of the memory: "; more than batch 40 of … is unsupported: …".
std::string unsupported_in_words(const std::vector<Limit>& limits) {
  const auto refused = [](const Limit& limit) { return limit.next_unsupported.has_value(); };
  const auto first = std::ranges::find_if(limits, refused);
  if (first == limits.end()) {
    return {};
  }
  const auto others = std::ranges::count_if(limits, refused) - 1;
  return fmt::format("; more than batch {} of {}{} is unsupported: {}", first->largest_batch, first->label,
                     others == 0 ? "" : fmt::format(" (and {} others)", others), *first->next_unsupported);
}

// What one series needs, where no batch of it fits.
std::string lack_in_words(const Limit& limit) {
  return limit.fixed_part_is_too_large()
             ? fmt::format("the fixed part of {} takes {}", limit.label, format_bytes(limit.fixed_bytes))
             : fmt::format("batch {} of {} needs {}, of which its fixed part takes {}", limit.smallest_batch,
                           limit.label, format_bytes(limit.smallest_bytes), format_bytes(limit.fixed_bytes));
}

// Of a single series: "; 40 at most (100 %, danger)".
std::string most_in_words(const std::vector<Limit>& limits) {
  const Limit& limit = limits.front();
  const std::int64_t largest = limit.known_largest();
  if (limits.size() > 1 || (largest == limit.largest_batch && largest == safe_batch(limit))) {
    return "";
  }
  if (largest != limit.largest_batch) {  // a plan that is wrong about the batch says nothing about its bytes
    return fmt::format("; the plan says {}", limit.largest_batch);
  }
  const double share =
      static_cast<double>(limit.largest_bytes.value_or(0)) / static_cast<double>(limit.cap_bytes);
  return fmt::format("; {} at most ({}, {})", largest, format_percent(share), headroom(share));
}

// The cap is below the fixed part of every series.
std::string nothing_fits(const std::vector<Limit>& limits) {
  const Limit& fixed = *std::ranges::min_element(limits, {}, &Limit::fixed_bytes);
  const Limit& smallest = *std::ranges::min_element(limits, {}, &Limit::smallest_bytes);
  return fmt::format(
      "No, nothing fits in {}: the fixed part alone takes {} ({}) [give {}, for batch {} of {}].",
      format_bytes(fixed.cap_bytes), format_bytes(fixed.fixed_bytes), fixed.label,
      format_bytes(smallest.smallest_bytes), smallest.smallest_batch, smallest.label);
}

// ", sequence length 128", where all series read sequences of that length.
std::string sequence_in_words(const std::vector<Limit>& limits) {
  std::set<std::string> lengths;
  for (const Limit& limit : limits) {
    Json of_point = limit.params;
    of_point["batch"] = limit.smallest_batch;
    const auto options = read_params(of_point).value_or(BatchParams{}).options;
    const auto length = options.find("sequence");
    lengths.insert(length == options.end() ? "" : length->second);
  }
  return lengths.size() == 1 && !lengths.begin()->empty()
             ? fmt::format(", sequence length {}", *lengths.begin())
             : "";
}

Finding claim_of_cap(std::int64_t cap, const std::vector<Limit>& limits, std::optional<std::int64_t> asked) {
  Finding finding = finding_of(fmt::format("largest_batch/{}", cap), "samples");
  std::size_t proved = 0;
  std::size_t agreed = 0;
  std::int64_t largest = 0;
  for (const Limit& limit : limits) {
    proved += limit.tried() ? 1 : 0;
    agreed += limit.tried() && limit.proof->largest_batch == limit.largest_batch ? 1 : 0;
    largest = std::max(largest, limit.known_largest());
  }
  const FitAnswer answer = fit_of(limits, asked);
  finding.value = static_cast<double>(largest);
  finding.details = {{"cap_bytes", cap}, {"series", limits.size()}, {"fit", name_of(answer.fit)}};
  if (asked) {
    finding.details["asked_batch"] = *asked;
  }
  if (std::ranges::all_of(limits, &Limit::fixed_part_is_too_large)) {
    finding.claim = nothing_fits(limits);
    return finding;
  }
  finding.details["proved"] = proved;
  finding.details["agreed"] = agreed;
  const std::string batches =
      largest == 0 ? lack_in_words(*std::ranges::min_element(limits, {}, &Limit::smallest_bytes))
                   : batches_in_words(answer) + most_in_words(limits);
  const bool for_time = proved > 0 && std::ranges::any_of(limits, lacked_time);
  finding.claim = fmt::format("{}{}: {}{}{}{}.", verdict_in_words(answer), sequence_in_words(limits), batches,
                              proof_in_words(limits, proved, agreed), unsupported_in_words(limits),
                              for_time ? fmt::format(" [{}]", give_time()) : "");
  return finding;
}

std::string proof_cell(const Limit& limit) {
  return !limit.tried() ? "by plan"
         : limit.proof->largest_batch != limit.largest_batch
             ? fmt::format("no: {}", limit.proof->largest_batch)
         : limit.proof->ran_a_step ? "step ran"
                                   : "fits";
}

// "4107 (100 %)".
std::string largest_cell(const Limit& limit) {
  if (limit.fixed_bytes > limit.cap_bytes) {
    return "fixed part too large";
  }
  const auto bytes = static_cast<double>(limit.largest_bytes.value_or(limit.smallest_bytes));
  const std::string share = format_percent(bytes / static_cast<double>(limit.cap_bytes));
  return limit.largest_batch == 0 ? fmt::format("none ({})", share)
                                  : fmt::format("{} ({})", limit.largest_batch, share);
}

Cell saturation_cell(const std::vector<BatchSeries>& all, const std::string& label) {
  const auto series = std::ranges::find(all, label, &BatchSeries::label);
  if (series == all.end() || series->timed.size() < 2 || !series->fits.saturation) {
    return {};
  }
  const Saturation& saturation = *series->fits.saturation;
  return saturation.state == SaturationState::flat ? Cell(series->at_saturation().batch)
         : !saturation.batch                       ? Cell()
         : saturation.at_largest ? Cell::figure(fmt::format("{} or more", *saturation.batch))
                                 : Cell(*saturation.batch);
}

}  // namespace

std::vector<Finding> claim_largest(const Limits& limits, std::optional<std::int64_t> asked) {
  std::map<std::int64_t, std::vector<Limit>> by_cap;
  for (const Limit& limit : limits.all) {
    by_cap[limit.cap_bytes].push_back(limit);
  }
  std::vector<Finding> findings;
  for (const auto& [cap, of_cap] : by_cap) {
    findings.push_back(claim_of_cap(cap, of_cap, asked));
  }
  return findings;
}

std::optional<Finding> claim_left_out(const Limits& limits) {
  if (!limits.left_out) {
    return std::nullopt;
  }
  const auto& [count, reason] = *limits.left_out;
  Finding finding = finding_of("limits_left_out", "limits");
  finding.value = static_cast<double>(count);
  finding.claim = fmt::format("Largest batches by plan: {} of {} are missing, because {} [{}].", count,
                              count + static_cast<std::int64_t>(limits.all.size()), reason, give_time());
  return finding;
}

std::vector<TextTable> limit_tables(const Limits& limits, const std::vector<BatchSeries>& all) {
  std::vector<Limit> sorted = limits.all;
  if (sorted.empty()) {
    return {};
  }
  std::ranges::stable_sort(sorted, {}, &Limit::cap_bytes);
  const Limit& first = sorted.front();
  const bool several_caps = first.cap_bytes != sorted.back().cap_bytes;
  const bool one_smallest = std::ranges::all_of(
      sorted, [&](const Limit& limit) { return limit.smallest_batch == first.smallest_batch; });
  const bool tried = std::ranges::any_of(sorted, &Limit::tried);
  std::vector<std::string> not_tried;
  TextTable table;
  table.rows.push_back(
      {"cap", "series", "safe", "largest", "weights and state",
       one_smallest ? fmt::format("at batch {}", first.smallest_batch) : "at its smallest batch", "saturates",
       "tried"});
  for (const Limit& limit : sorted) {
    const std::string smallest = one_smallest ? "" : fmt::format(" ({})", limit.smallest_batch);
    table.rows.push_back(
        {several_caps ? Cell::bytes(limit.cap_bytes) : Cell(), limit.label,
         limit.safe_batch == 0 ? "none" : Cell(limit.safe_batch), Cell::figure(largest_cell(limit)),
         Cell::bytes(limit.fixed_bytes), Cell::figure(format_bytes(limit.smallest_bytes) + smallest),
         saturation_cell(all, limit.label), tried ? Cell::figure(proof_cell(limit)) : Cell()});
    if (limit.proof && limit.proof->not_tried &&
        std::ranges::find(not_tried, *limit.proof->not_tried) == not_tried.end()) {
      not_tried.push_back(*limit.proof->not_tried);
    }
  }
  table.name = "batches that fit";
  table.title =
      fmt::format("Batches that fit{} (safe: below 90 % of the cap){}{}",
                  several_caps ? "" : " in " + format_bytes(first.cap_bytes), tried ? "" : ", by plan",
                  not_tried.empty() ? "" : fmt::format("; not tried: {}", fmt::join(not_tried, "; ")));
  return {table};
}

}  // namespace bench::sweeps
