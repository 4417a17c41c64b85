// The batch sweep's headlines and pictures in a report.
#include <algorithm>
#include <iterator>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "sweeps/batch/answer.h"
#include "sweeps/series/charts.h"

namespace bench::sweeps {
namespace {

std::vector<plots::Chart> batch_charts(ResultDocument& document) {
  const SeriesLabel label = [](const BatchParams& params) { return std::string(name_of(params.dtype)); };
  const std::vector<BatchSeries> all = batch_series(document);
  std::vector<plots::Chart> charts{throughput_chart(all, document, label)};
  std::ranges::move(memory_charts(all, document, label), std::back_inserter(charts));
  return charts;
}

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "batch",
     .choose_headlines =
         [](ResultDocument& document) {
           const std::vector<BatchSeries> all = batch_series(document);
           choose_batch_headlines(all, answer_of(all, document), document.findings);
         },
     .recommendation = "recommendation",
     .charts = batch_charts}};

}  // namespace
}  // namespace bench::sweeps
