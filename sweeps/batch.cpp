// Where does a larger batch stop paying, and what does it cost in memory?
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/predicted_step.h"
#include "bench/result/flags.h"
#include "bench/sweep.h"
#include "sweeps/batch/answer.h"
#include "sweeps/batch/findings.h"
#include "sweeps/series/planned.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

SweepPlan plan_batches(const SweepRequest& request, const Device& device) {
  const auto dtypes = request.dtypes.empty() ? default_dtypes(device) : request.dtypes;
  auto batches = request.batches.empty() ? default_batches() : request.batches;
  std::ranges::sort(batches);
  const WorkloadType& workload = *request.workload;

  WorkloadSpec spec;
  spec.mode = request.modes.empty() ? workload.modes.front() : request.modes.front();
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
      plan.points.push_back(
          batch_point(workload, spec,
                      fmt::format("batch/{}/{}/{}/batch:{}", workload.name, spec.mode, name_of(dtype), batch),
                      std::string(name_of(dtype))));
    }
  }
  return plan;
}

class BatchSweep final : public Sweep {
 public:
  BatchSweep(const SweepRequest& request, Device& device)
      : request_(request), device_(device), plan_(plan_batches(request, device)) {}

  const SweepPlan& plan() const override { return plan_; }

  // The largest batch of each dtype below the cap. Where the planning ends first, the memory line has to do.
  void predict(const PlanningEnd& end) override {
    try {
      for (const SweepPoint& point : plan_.points) {
        const Dtype dtype = point.spec.dtype;
        if (!request_.memory_caps.empty() && !largest_.contains(dtype) &&
            !unsupported_on(device_, *point.workload, point.spec)) {
          PlannedSeries series(*request_.workload, point.spec, device_, end);
          largest_[dtype] = largest_by_plan(series, request_.largest_cap());
        }
      }
    } catch (const PlanningEnded&) {
    }
  }

  // For each dtype: t_inf, t0, ceiling_batch, limit_below_ceiling, memory_line, largest_batch, and left_out
  // where points ran above the device's peak; with several dtypes the name ends in "/<dtype>". For each dtype
  // but fp32 speedup_<dtype> and memory_ratio_<dtype>. conditions where other processes used the CPU. Last,
  // recommendation. Claims about speed leave out points of few rounds where two others remain. Of a device
  // that is not here limit_at_ceiling, and no t0.
  std::vector<Finding> findings(const ResultDocument& document) const override {
    std::vector<BatchSeries> all = batch_series(document);
    for (BatchSeries& series : all) {
      const auto planned = largest_.find(series.params.dtype);
      if (planned != largest_.end() && series.cap_bytes == request_.largest_cap()) {
        series.take_plan(planned->second);
      }
    }
    const BatchAnswer answer = answer_of(all, document);
    std::vector<Finding> findings;
    const auto add = [&](Finding finding, const BatchSeries& series) {
      finding.name = answer.finding_name(finding.name, series);
      findings.push_back(std::move(finding));
    };
    const bool predicted = device_.model() != nullptr || !modelled_points(document).empty();
    using Claim = Finding (*)(const BatchSeries& series);
    const std::vector<Claim> claims =
        predicted ? std::vector<Claim>{claim_t_inf,       claim_saturation,
                                       claim_limit,       claim_limit_at_saturation,
                                       claim_memory_line, claim_largest_batch}
                  : std::vector<Claim>{claim_t_inf, claim_t0,          claim_saturation,
                                       claim_limit, claim_memory_line, claim_largest_batch};
    for (const BatchSeries& series : all) {
      for (const Claim claim : claims) {
        add(claim(series), series);
      }
      if (!series.left_out.empty()) {
        add(claim_left_out(series), series);
      }
    }
    for (const BatchSeries& series : all) {
      if (answer.baseline != nullptr && &series != answer.baseline) {
        findings.push_back(claim_speedup(series, *answer.baseline));
        findings.push_back(claim_memory_ratio(series, *answer.baseline));
      }
    }
    if (auto conditions = claim_conditions(document)) {
      findings.push_back(*std::move(conditions));
    }
    findings.push_back(claim_recommendation(answer, document));
    choose_batch_headlines(all, answer, findings);
    return findings;
  }

 private:
  const SweepRequest& request_;
  Device& device_;
  SweepPlan plan_;
  std::map<Dtype, std::optional<LargestByPlan>> largest_;  // nullopt: by plan there is none
};

const Registration<SweepType> BENCH_REGISTERED{
    SweepType{.name = "batch",
              .question = "Where does a larger batch stop paying, and what does it cost in memory?",
              .default_workload = "resnet50",
              .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
                return std::make_unique<BatchSweep>(request, device);
              }}};

}  // namespace
}  // namespace bench::sweeps
