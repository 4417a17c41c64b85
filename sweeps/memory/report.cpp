// Which findings of the memory sweep are printed first, and its pictures in a report.
#include <algorithm>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "sweeps/memory/claims.h"
#include "sweeps/memory/plan.h"
#include "sweeps/series/charts.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

constexpr std::string_view kLargest = "largest_batch/";

// The findings of the smallest cap that holds a batch, and of the largest cap.
std::vector<std::string> telling_caps(const std::vector<Finding>& findings) {
  std::vector<const Finding*> largest;
  for (const Finding& finding : findings) {
    if (finding.name.starts_with(kLargest)) {
      largest.push_back(&finding);
    }
  }
  std::vector<std::string> names;
  const auto fits =
      std::ranges::find_if(largest, [](const Finding* finding) { return finding->value.value_or(0) > 0; });
  if (fits != largest.end()) {
    names.push_back((*fits)->name);
  }
  if (!largest.empty() && (names.empty() || largest.back()->name != names.front())) {
    names.push_back(largest.back()->name);
  }
  return names;
}

std::vector<report::Chart> charts_of_memory(ResultDocument& document) {
  parse_params(document, read_params);
  const std::vector<BatchSeries> all = read_series(
      document, [&](const BatchParams& params) { return memory_label(params, document.sweep.axes); });
  return memory_charts(all, document.sweep.memory_cap_bytes);
}

}  // namespace

void choose_memory_headlines(std::vector<Finding>& findings) {
  std::vector<std::string> names;
  const auto add = [&](const char* prefix, std::size_t most, auto accepted) {
    for (const Finding& finding : findings) {
      if (most > 0 && finding.name.starts_with(prefix) && accepted(finding)) {
        names.push_back(finding.name);
        --most;
      }
    }
  };
  const auto any = [](const Finding&) { return true; };
  add("memory_growth/", 2, [](const Finding& finding) {
    return finding.details.is_object() && finding.details.at("grows").get<bool>();
  });
  const std::vector<std::string> caps = telling_caps(findings);
  names.insert(names.end(), caps.begin(), caps.end());
  add("limits_left_out", 1, any);
  for (const char* prefix : {"activations_per_sample/", "optimizer_multiple/", "memory_growth/", "peak/",
                             "memory_line/", "ceiling_batch/", "system_memory"}) {
    add(prefix, 1, any);
  }
  set_headlines(findings, names);
}

namespace {

const Registration<report::SweepReport> registered{
    {.name = "memory", .choose_headlines = choose_memory_headlines, .charts = charts_of_memory}};

}  // namespace
}  // namespace bench::sweeps
