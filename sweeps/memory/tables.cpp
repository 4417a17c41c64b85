#include "sweeps/memory/tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/units.h"

namespace bench::sweeps {
namespace {

std::string proof_cell(const Limit& limit) {
  if (!limit.proof || !limit.proof->not_tried.empty()) {
    return "by plan";
  }
  const LimitTrial& proof = *limit.proof;
  return proof.largest_batch != limit.largest_batch ? fmt::format("no: {}", proof.largest_batch)
         : proof.ran_a_step                         ? "step ran"
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

std::string saturation_cell(const std::vector<BatchSeries>& all, const std::string& label) {
  const auto series = std::ranges::find(all, label, &BatchSeries::label);
  if (series == all.end() || series->timed.size() < 2 || !series->saturation || !series->saturation->batch) {
    return "?";
  }
  return fmt::format("{}{}", series->saturation->at_largest ? "from " : "", *series->saturation->batch);
}

}  // namespace

std::vector<TextTable> limit_tables(std::vector<Limit> limits, const std::vector<BatchSeries>& all) {
  if (limits.empty()) {
    return {};
  }
  std::ranges::stable_sort(limits, {}, &Limit::cap_bytes);
  const bool several_caps = limits.front().cap_bytes != limits.back().cap_bytes;
  const bool saturates = std::ranges::any_of(
      limits, [&](const Limit& limit) { return saturation_cell(all, limit.label) != "?"; });
  const bool tried =
      std::ranges::any_of(limits, [](const Limit& limit) { return proof_cell(limit) != "by plan"; });
  std::vector<std::string> not_tried;
  TextTable table;
  table.title = fmt::format("What fits{} (safe: below 90 % of the cap; tight: to 95 %){}",
                            several_caps ? "" : " in " + format_bytes(limits.front().cap_bytes),
                            tried ? "" : ", by plan");
  const auto add_row = [&](const std::array<std::string, 8>& cells) {
    std::vector<std::string>& row = table.rows.emplace_back();
    const std::array<bool, 8> shown{several_caps, true, true, true, true, true, saturates, tried};
    std::ranges::copy(cells, std::back_inserter(row));
    for (std::size_t i = shown.size(); i-- > 0;) {
      if (!shown[i]) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  };
  const std::int64_t smallest = limits.front().smallest_batch;
  const bool one_smallest =
      std::ranges::all_of(limits, [&](const Limit& limit) { return limit.smallest_batch == smallest; });
  add_row({"cap", "series", "safe", "largest", "fixed",
           one_smallest ? fmt::format("at batch {}", smallest) : "at its smallest batch", "saturates",
           "tried"});
  for (const Limit& limit : limits) {
    add_row({format_bytes(limit.cap_bytes), limit.label,
             limit.safe_batch == 0 ? "none" : fmt::format("{}", limit.safe_batch), largest_cell(limit),
             format_bytes(limit.fixed_bytes),
             format_bytes(limit.smallest_bytes) +
                 (one_smallest ? "" : fmt::format(" ({})", limit.smallest_batch)),
             saturation_cell(all, limit.label), proof_cell(limit)});
    if (limit.proof && !limit.proof->not_tried.empty() &&
        std::ranges::find(not_tried, limit.proof->not_tried) == not_tried.end()) {
      not_tried.push_back(limit.proof->not_tried);
    }
  }
  if (!not_tried.empty()) {
    table.title += fmt::format("\nNot tried: {}.", fmt::join(not_tried, "; "));
  }
  table.right.assign(table.rows.front().size(), true);
  table.right[several_caps ? 1 : 0] = false;
  return {table};
}

}  // namespace bench::sweeps
