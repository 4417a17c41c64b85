// Which findings of the batch sweep are printed first, and its pictures in a report.
#include <algorithm>
#include <iterator>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/result/finding.h"
#include "sweeps/batch/findings.h"
#include "sweeps/series/charts.h"

namespace bench::sweeps {

void choose_batch_headlines(std::vector<Finding>& findings) {
  const Finding* const recommendation = find_finding(findings, "recommendation");
  if (recommendation == nullptr || recommendation->evidence.empty()) {
    return;
  }
  // With several dtypes the names end in theirs.
  const bool several = !find_findings(findings, "ceiling_batch/").empty();
  const std::string chosen = several && recommendation->details.is_object()
                                 ? "/" + recommendation->details.at("dtype").get<std::string>()
                                 : "";
  std::vector<std::string> names = {"recommendation"};
  for (const Finding& finding : findings) {
    if (finding.name.starts_with("speedup_") ||
        (finding.name.starts_with("ceiling_batch/") && finding.name != "ceiling_batch" + chosen)) {
      names.push_back(finding.name);
    }
  }
  names.resize(std::min<std::size_t>(names.size(), 3));
  for (const char* name : {"largest_batch", "limit_below_ceiling", "t_inf"}) {
    names.push_back(name + chosen);
  }
  const Finding* const t0 = find_finding(findings, "t0" + chosen);
  if (t0 != nullptr && t0->value && t0->details.at("distinguishable_from_zero").get<bool>()) {
    names.push_back(t0->name);
  }
  set_headlines(findings, names);
}

namespace {

std::vector<plots::Chart> batch_charts(ResultDocument& document) {
  const SeriesLabel label = [](const BatchParams& params) { return std::string(name_of(params.dtype)); };
  std::vector<BatchSeries> all = read_series(document, label);
  std::ranges::sort(all, {}, [](const BatchSeries& series) { return series.params.dtype; });
  std::vector<plots::Chart> charts{throughput_chart(all, document, label)};
  std::ranges::move(memory_charts(all, document, label), std::back_inserter(charts));
  return charts;
}

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "batch",
     .choose_headlines = [](ResultDocument& document) { choose_batch_headlines(document.findings); },
     .recommendation = "recommendation",
     .charts = batch_charts}};

}  // namespace
}  // namespace bench::sweeps
