#include "sweeps/memory/tables.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/headroom.h"
#include "bench/measure/units.h"

namespace bench::sweeps {
namespace {

std::string proof_cell(const Limit& limit) {
  if (!limit.proof) {
    return "by plan";
  }
  const Proof& proof = *limit.proof;
  if (!proof.not_tried.empty()) {
    return fmt::format("by plan: {}", proof.not_tried);
  }
  if (proof.largest_batch != limit.largest_batch) {
    return fmt::format("no: {} fits{}", proof.largest_batch,
                       proof.refused_batch ? fmt::format(", {} does not", *proof.refused_batch) : "");
  }
  return fmt::format("{} probe{}{}", proof.probes, proof.probes == 1 ? "" : "s",
                     proof.ran_a_step ? ", ran a step" : "");
}

// The columns largest batch, of the cap, headroom. Where not even the fixed part fits, the reason stands
// instead of a share of the cap.
std::vector<std::string> room_cells(const Limit& limit) {
  if (limit.fixed_bytes > limit.cap_bytes) {
    return {"none", "", "fixed part too large"};
  }
  const auto bytes = static_cast<double>(limit.largest_bytes.value_or(limit.smallest_bytes));
  const double share = bytes / static_cast<double>(limit.cap_bytes);
  if (limit.largest_batch == 0) {
    return {"none", format_percent(share), "smallest too large"};
  }
  return {fmt::format("{}", limit.largest_batch), format_percent(share),
          std::string(name_of(headroom(share)))};
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
  TextTable table;
  table.title = "What fits (below 90 % of the cap: safe; to 95 %: tight; above: danger)";
  table.rows.push_back({"cap", "", "fixed part", "smallest batch", "largest batch", "of the cap", "headroom",
                        "largest safe", "saturation", "proved"});
  for (const Limit& limit : limits) {
    std::vector<std::string> row = {
        format_bytes(limit.cap_bytes), limit.label, format_bytes(limit.fixed_bytes),
        fmt::format("{}: {}", limit.smallest_batch, format_bytes(limit.smallest_bytes))};
    const std::vector<std::string> room = room_cells(limit);
    row.insert(row.end(), room.begin(), room.end());
    row.push_back(limit.safe_batch == 0 ? "none" : fmt::format("{}", limit.safe_batch));
    row.push_back(saturation_cell(all, limit.label));
    row.push_back(proof_cell(limit));
    table.rows.push_back(std::move(row));
  }
  table.right = {true, false, true, true, true, true, false, true, true, false};
  return {table};
}

}  // namespace bench::sweeps
