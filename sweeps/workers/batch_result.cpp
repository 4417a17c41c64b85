#include "sweeps/workers/batch_result.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/run/result_file.h"
#include "bench/text/quote.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {
const BatchResult::Step& BatchResult::best() const {
  return *std::ranges::max_element(
      steps, {}, [](const Step& step) { return static_cast<double>(step.batch) / step.ns; });
}

double BatchResult::step_ns(std::int64_t batch) const {
  const auto above = std::ranges::lower_bound(steps, batch, {}, &Step::batch);
  if (above == steps.end() || (above == steps.begin() && above->batch != batch)) {
    throw UsageError(
        fmt::format("--consumer: its file has steps of batch {} to {}, and batch {} is wanted; give "
                    "a file with that batch or with batches about it",
                    steps.front().batch, steps.back().batch, batch));
  }
  if (above->batch == batch) {
    return above->ns;
  }
  const Step& below = *(above - 1);
  const double part =
      static_cast<double>(batch - below.batch) / static_cast<double>(above->batch - below.batch);
  return below.ns + part * (above->ns - below.ns);
}

BatchResult read_batch_result(const std::string& option, const std::string& path,
                              std::optional<std::string> dtype) {
  const ResultDocument document = [&] {
    try {
      return read_result(path);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}; give a result file that bench wrote", option, error.what()));
    }
  }();
  if (const std::string& sweep = document.sweep.name; sweep != "batch") {
    throw UsageError(fmt::format(
        "{}: {} is a result of {}, whose steps are other things; give the result file of a batch sweep",
        option, quote(path), sweep.empty() ? "no sweep" : "--sweep " + printable(sweep)));
  }
  BatchResult result{.workload = document.sweep.workload, .device = document.context.device.name};
  for (const MeasuredPoint& point : document.benchmarks) {
    const auto params = read_params(point.params);
    if (!params || point.stats.median_ns <= 0 || point.items_per_step <= 0) {
      continue;
    }
    const std::string own(name_of(params->dtype));
    if (!dtype) {
      dtype = own;
    }
    if (own == *dtype && params->batch >= 1 &&
        std::ranges::find(result.steps, params->batch, &BatchResult::Step::batch) == result.steps.end()) {
      result.steps.push_back({.batch = params->batch, .ns = point.stats.median_ns});
    }
  }
  if (result.steps.empty()) {
    throw UsageError(fmt::format("{}: {} holds no measured batch{}; give the result file of a batch sweep",
                                 option, quote(path), dtype ? " in " + *dtype : ""));
  }
  result.dtype = *dtype;
  std::ranges::sort(result.steps, {}, &BatchResult::Step::batch);
  return result;
}

}  // namespace bench::sweeps
