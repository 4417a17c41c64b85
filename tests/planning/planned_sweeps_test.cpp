// The graphs that cuDNN's heuristics are asked for when a default sweep plans every point that an H200 holds,
// and the largest batches. No CUDA is needed: cuDNN's answers are modelled on those recorded for the card.
#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "bench/cli/options.h"
#include "bench/commands/planned_sweep.h"
#include "bench/commands/setup.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/elementwise/bias.h"
#include "tests/kernels/backends/cudnn/graph_cost.h"
#include "tests/kernels/networks/modelled_card.h"

namespace bench::kernels::testing {
namespace {

using ::testing::Gt;
using ::testing::Le;

std::set<cudnn::Convolution> asked;

std::int64_t bytes_of(const cudnn::Tensor& tensor, Dtype dtype) {
  return tensor.dims[0] * tensor.dims[1] * tensor.dims[2] * tensor.dims[3] * bench::bytes_of(dtype);
}

// As recorded for an H200: in fp32 a plan that rearranges source and result and one that takes nothing, else
// plans that take next to nothing. No other activation than relu is fused.
class ModelledPlans final : public cudnn::Plans {
 public:
  explicit ModelledPlans(const cudnn::Convolution& convolution) {
    if (convolution.activation != Activation::none && convolution.activation != Activation::relu) {
      throw Unsupported("no kernel fuses this activation");
    }
    const bool wide = bench::bytes_of(convolution.dtype) == 4;
    list_[0].workspace =
        wide ? bytes_of(convolution.x, convolution.dtype) + bytes_of(convolution.y, convolution.dtype) : 131;
  }
  std::span<const cudnn::Plan> list() const override { return list_; }
  std::string name(std::size_t plan) const override { return std::to_string(plan); }
  std::optional<std::int64_t> build(std::size_t /*plan*/) override { return std::nullopt; }
  std::string last_refusal() const override { return "the card is not here"; }
  void run(std::size_t, CUstream_st*, const cudnn::PlanArguments&) override {}

 private:
  std::array<cudnn::Plan, 2> list_{};
};

const Registration<cudnn::PlanSource> source{
    {.name = "cudnn",
     .version = [] { return std::int64_t{91900}; },
     .newest_capability = [] { return 120; },
     .plans = [](const cudnn::Convolution& convolution, cuda::Card&) -> std::unique_ptr<cudnn::Plans> {
       asked.insert(convolution);
       return std::make_unique<ModelledPlans>(convolution);
     }}};

// The sums of a bias's gradient need no scratch, as those of few rows do not.
const Registration<cuda::BiasKernels> bias_kernels{
    {.name = "cuda",
     .finish = nullptr,
     .column_sums_scratch = [](const cuda::Matrix&) { return std::int64_t{0}; },
     .column_sums = nullptr,
     .narrow = nullptr}};

// 141 GB, of which the context takes 0.6.
class AbsentH200 final : public ModelledCard, public cuda::CardDevice {
 public:
  AbsentH200() : ModelledCard("H200", 132, true, 150'100'000'000) {}
  cuda::Card& card() const override { return card_; }

 private:
  mutable cuda::Card card_{90, "modelled"};
};

// A sweep with its defaults, planned as a run plans it that has time for everything.
class PlannedDefaults {
 public:
  explicit PlannedDefaults(const std::string& name) {
    asked.clear();
    Options options;
    options.sweep = name;
    const SweepType& type = *registry<SweepType>().find(name);
    const SweepRequest request = make_request(options, type, card_, steady_clock());
    const auto sweep = type.make(request, card_);
    PlannedSweep planned(sweep->plan(), request, card_, "");
    sweep->predict({}, [] { return std::nullopt; });
    graphs_of_limits = asked.size();
    planned.stop_at_cap();
    for (const SweepPoint& point : planned.plan().points) {
      if (planned.predict(point).problem.empty()) {
        ++points;
        largest_batch = std::max(largest_batch, point.spec.batch);
      }
    }
    graphs = asked.size();
    state = sweep->to_json();
    budget_ns = static_cast<double>(options.time_budget.count());
  }

  std::size_t graphs = 0;
  std::size_t graphs_of_limits = 0;
  std::int64_t points = 0;  // that fit
  std::int64_t largest_batch = 0;
  Json state;
  double budget_ns = 0;

 private:
  AbsentH200 card_;
};

class DefaultSweep : public ::testing::TestWithParam<std::string> {};

TEST_P(DefaultSweep, IsPlannedForAnH200WithinAFifthOfTheTimeBudget) {
  const PlannedDefaults planned(GetParam());
  RecordProperty("graphs", static_cast<int>(planned.graphs));
  EXPECT_THAT(planned.points, Gt(30));
  EXPECT_THAT(planned.graphs, Gt(30U)) << "nothing was planned";
  EXPECT_THAT(static_cast<double>(planned.graphs) * kGraphNs, Le(planned.budget_ns / 5))
      << planned.graphs << " graphs, of which " << planned.graphs_of_limits << " for the largest batches";
}

INSTANTIATE_TEST_SUITE_P(OnAnH200, DefaultSweep, ::testing::Values("batch", "kernels", "memory"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace bench::kernels::testing
