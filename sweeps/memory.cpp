// What fills the memory, and which batch fits?
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/memory/findings.h"
#include "sweeps/memory/limits.h"
#include "sweeps/memory/prove.h"
#include "sweeps/memory/soak.h"
#include "sweeps/memory/tables.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

using Combination = std::map<std::string, std::string>;

// Every choice of one value for each option.
std::vector<Combination> combinations(const std::map<std::string, std::vector<std::string>>& values) {
  std::vector<Combination> all{{}};
  for (const auto& [name, choices] : values) {
    std::vector<Combination> grown;
    for (const Combination& combination : all) {
      for (const std::string& choice : choices) {
        grown.push_back(combination);
        grown.back()[name] = choice;
      }
    }
    all = std::move(grown);
  }
  return all;
}

class Planner {
 public:
  Planner(const SweepRequest& request, Device& device)
      : request_(request),
        dtypes_(request.dtypes.empty() ? default_dtypes(device) : request.dtypes),
        modes_(request.modes.empty() ? request.workload->modes : request.modes) {}

  SweepPlan run() && {
    plan_.open_ended = request_.batches.empty();
    plan_.rounds_when_growing = 1;  // memory is the same every time
    plan_.most_rounds = 5;          // enough to place a ceiling
    plan_.share_of_budget = soak_steps(request_) > 0 ? 0.4 : 0.8;
    plan_.axes = {{"mode", modes_}, {"dtype", Json::array()}, {"batch", Json::array()}};
    for (const Dtype dtype : dtypes_) {
      plan_.axes["dtype"].push_back(name_of(dtype));
    }
    for (const std::string& mode : modes_) {
      const auto values = option_values(request_, mode);
      for (const auto& [name, choices] : values) {
        if (choices.size() > 1) {
          plan_.axes[name] = choices;
        }
      }
      for (const Dtype dtype : dtypes_) {
        for (const Combination& options : combinations(values)) {
          add_series({.mode = mode, .dtype = dtype, .batch = 1, .seed = request_.seed, .options = options});
        }
      }
    }
    std::ranges::sort(batches_);
    batches_.erase(std::unique(batches_.begin(), batches_.end()), batches_.end());
    plan_.axes["batch"] = batches_;
    return std::move(plan_);
  }

 private:
  void add_series(WorkloadSpec spec) {
    std::vector<std::int64_t> batches = request_.batches;
    if (batches.empty()) {
      for (const std::int64_t batch : default_batches()) {
        batches.push_back(batch * batch_unit(spec));
      }
    }
    std::ranges::sort(batches);
    std::string series =
        fmt::format("memory/{}/{}/{}", request_.workload->name, spec.mode, name_of(spec.dtype));
    for (const auto& [name, value] : spec.options) {
      if (plan_.axes.contains(name)) {
        series += fmt::format("/{}:{}", name, value);
      }
    }
    for (const std::int64_t batch : batches) {
      spec.batch = batch;
      plan_.points.push_back({.name = fmt::format("{}/batch:{}", series, batch),
                              .params = params_of(request_.workload->name, spec),
                              .spec = spec,
                              .series = series});
      batches_.push_back(batch);
    }
  }

  const SweepRequest& request_;
  std::vector<Dtype> dtypes_;
  std::vector<std::string> modes_;
  std::vector<std::int64_t> batches_;
  SweepPlan plan_;
};

SweepPlan plan(const SweepRequest& request, Device& device) {
  soak_steps(request);  // a wrong number is known before anything else
  return Planner(request, device).run();
}

const Registration<Sweep> registered{
    Sweep{.name = "memory",
          .question = "What fills the memory, which batch fits, and does it creep up?",
          .default_workload = "resnet18",
          .options = {{"soak", "0", "steps to run while memory is watched, of each series' largest batch"}},
          .takes_lists = true,
          .all_modes = true,
          .default_values = {{"optimizer", {"sgd", "momentum", "adam"}}},
          .plan = plan,
          .predict = predict_limits,
          .prove = prove_limits,
          .findings = memory_findings,
          .tables = memory_tables}};

}  // namespace
}  // namespace bench::sweeps
