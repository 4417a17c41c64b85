// Where does a larger batch stop paying, and what does it cost in memory?
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/batch/findings.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

SweepPoint point_of(const std::string& workload, const WorkloadSpec& spec) {
  const std::string dtype(name_of(spec.dtype));
  SweepPoint point;
  point.name = fmt::format("batch/{}/{}/{}/batch:{}", workload, spec.mode, dtype, spec.batch);
  point.params = params_of(workload, spec);
  point.spec = spec;
  point.series = dtype;
  return point;
}

SweepPlan plan(const SweepRequest& request, Device& device) {
  const auto dtypes = request.dtypes.empty() ? default_dtypes(device) : request.dtypes;
  auto batches = request.batches.empty() ? default_batches() : request.batches;
  std::ranges::sort(batches);

  WorkloadSpec spec;
  spec.mode = request.modes.empty() ? request.workload->modes.front() : request.modes.front();
  for (const auto& [name, values] : option_values(request, spec.mode)) {
    spec.options[name] = values.front();
  }
  spec.seed = request.seed;

  SweepPlan plan;
  plan.open_ended = request.batches.empty();
  plan.axes = {{"batch", batches}, {"dtype", Json::array()}};
  for (const Dtype dtype : dtypes) {
    plan.axes["dtype"].push_back(name_of(dtype));
    spec.dtype = dtype;
    for (const std::int64_t batch : batches) {
      spec.batch = batch;
      plan.points.push_back(point_of(request.workload->name, spec));
    }
  }
  return plan;
}

const Registration<Sweep> registered{
    Sweep{.name = "batch",
          .question = "Where does a larger batch stop paying, and what does it cost in memory?",
          .default_workload = "resnet50",
          .plan = plan,
          .findings = batch_findings}};

}  // namespace
}  // namespace bench::sweeps
