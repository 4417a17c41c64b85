#include "sweeps/memory/tables.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/headroom.h"
#include "bench/measure/units.h"

namespace bench::sweeps {
namespace {

std::string proof_in_words(const Json& limit) {
  const Json proof = limit.value("proof", Json());
  if (!proof.is_object()) {
    return "by plan";
  }
  if (proof.contains("not_tried")) {
    return fmt::format("by plan: {}", proof["not_tried"].get<std::string>());
  }
  const auto largest = proof["largest_batch"].get<std::int64_t>();
  if (largest != limit["largest_batch"].get<std::int64_t>()) {
    return fmt::format("no: {} fits{}", largest,
                       proof.contains("refused_batch")
                           ? fmt::format(", {} does not", proof["refused_batch"].get<std::int64_t>())
                           : "");
  }
  return fmt::format("{} probe{}{}", proof["probes"].get<int>(), proof["probes"].get<int>() == 1 ? "" : "s",
                     proof.value("ran_a_step", false) ? ", ran a step" : "");
}

// The columns largest batch, of the cap, headroom. A share of the cap means nothing where not even what is
// held whatever the batch fits: then the reason stands there.
std::vector<std::string> room_in_words(const Json& limit) {
  const auto cap = limit["cap_bytes"].get<std::int64_t>();
  const auto largest = limit["largest_batch"].get<std::int64_t>();
  if (limit["fixed_bytes"].get<std::int64_t>() > cap) {
    return {"none", "", "fixed part too large"};
  }
  const double share =
      limit.value("largest_bytes", limit["smallest_bytes"].get<double>()) / static_cast<double>(cap);
  if (largest == 0) {
    return {"none", format_percent(share), "smallest too large"};
  }
  return {fmt::format("{}", largest), format_percent(share), std::string(name_of(headroom(share)))};
}

// Of ceiling_batch, where it was found.
std::string worth_using(const ResultDocument& document, const std::string& label) {
  const auto finding = std::ranges::find(document.findings, "ceiling_batch/" + label, &Finding::name);
  if (finding == document.findings.end() || !finding->value) {
    return "?";
  }
  const bool beyond = finding->details.is_object() && finding->details.value("may_lie_beyond", false);
  return fmt::format("{}{:.0f}", beyond ? "from " : "", *finding->value);
}

}  // namespace

std::vector<TextTable> memory_tables(const ResultDocument& document) {
  if (!document.sweep.is_object() || !document.sweep.contains("limits") || document.sweep["limits"].empty()) {
    return {};
  }
  TextTable table;
  table.title = "What fits (below 90 % of the cap: safe; to 95 %: tight; above: danger)";
  table.rows.push_back({"cap", "", "fixed part", "smallest batch", "largest batch", "of the cap", "headroom",
                        "largest safe", "worth using", "proved"});
  std::vector<const Json*> limits;
  for (const Json& limit : document.sweep["limits"]) {
    limits.push_back(&limit);
  }
  std::ranges::stable_sort(limits, {},
                           [](const Json* limit) { return (*limit)["cap_bytes"].get<std::int64_t>(); });
  for (const Json* at : limits) {
    const Json& limit = *at;
    const auto safe = limit["safe_batch"].get<std::int64_t>();
    std::vector<std::string> row = {format_bytes(limit["cap_bytes"].get<std::int64_t>()),
                                    limit["label"].get<std::string>(),
                                    format_bytes(limit["fixed_bytes"].get<std::int64_t>()),
                                    fmt::format("{}: {}", limit["smallest_batch"].get<std::int64_t>(),
                                                format_bytes(limit["smallest_bytes"].get<std::int64_t>()))};
    const std::vector<std::string> fit = room_in_words(limit);
    row.insert(row.end(), fit.begin(), fit.end());
    row.push_back(safe == 0 ? "none" : fmt::format("{}", safe));
    row.push_back(worth_using(document, limit["label"].get<std::string>()));
    row.push_back(proof_in_words(limit));
    table.rows.push_back(std::move(row));
  }
  table.right = {true, false, true, true, true, true, false, true, true, false};
  return {table};
}

}  // namespace bench::sweeps
