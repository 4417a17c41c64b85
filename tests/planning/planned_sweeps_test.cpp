// How often the heuristics of cuDNN and cuBLASLt are asked when a default sweep plans every point that an
// H200 holds, and the largest batches. No CUDA is needed: cuDNN's answers are modelled on those recorded for
// the card.
#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "bench/cli/options.h"
#include "bench/commands/planned_sweep.h"
#include "bench/commands/setup.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/attention/cuda.cu"
#include "kernels/operations/elementwise/bias.h"
#include "tests/kernels/backends/cudnn/graph_cost.h"
#include "tests/kernels/devices/fake_runtime.h"
#include "tests/kernels/networks/modelled_card.h"

namespace bench::kernels::testing {
namespace {

using ::testing::Gt;
using ::testing::Le;

// Calls, not different pieces of work: a card keeps the answers of so many.
struct Asked {
  std::int64_t convolutions = 0;
  std::int64_t attention = 0;
  std::int64_t products = 0;

  double ns() const {
    return static_cast<double>(convolutions) * kGraphNs + static_cast<double>(attention) * kAttentionNs +
           static_cast<double>(products) * kProductNs;
  }
};
Asked asked;

// As recorded for an H200: in fp32 a plan that rearranges source and result and two that take nothing, else
// plans on tensor cores that take next to nothing. No other activation than relu is fused.
class ModelledPlans final : public cudnn::Plans {
 public:
  explicit ModelledPlans(const Conv2d& convolution) {
    if (convolution.activation != Activation::none && convolution.activation != Activation::relu) {
      throw Unsupported("no kernel fuses this activation");
    }
    const bool wide = bytes_of(convolution.dtype) == 4;
    list_[0].workspace = wide ? convolution.src().bytes() + convolution.dst().bytes() : 131;
    for (cudnn::Plan& plan : list_) {
      plan.tensor_cores = convolution.dtype != Dtype::fp32;
    }
  }
  explicit ModelledPlans(const Attention& /*spec*/) {}
  std::span<const cudnn::Plan> list() const override { return list_; }
  std::string name(std::size_t plan) const override { return std::to_string(plan); }
  std::optional<std::int64_t> build(std::size_t /*plan*/) override { return std::nullopt; }
  std::string last_refusal() const override { return "the card is not here"; }
  void run(std::size_t, CUstream_st*, const cudnn::PlanArguments&) override {}

 private:
  std::array<cudnn::Plan, 3> list_{};
};

const Registration<cudnn::PlanSource> source{
    {.name = "cudnn",
     .version = [] { return std::int64_t{91900}; },
     .newest_capability = [] { return 120; },
     .plans = [](const Conv2d& convolution, cuda::Card&) -> std::unique_ptr<cudnn::Plans> {
       ++asked.convolutions;
       return std::make_unique<ModelledPlans>(convolution);
     },
     .attention_plans = [](const Attention& spec, cuda::Card&) -> std::unique_ptr<cudnn::Plans> {
       ++asked.attention;
       return std::make_unique<ModelledPlans>(spec);
     }}};

class ModelledAlgorithms final : public cublaslt::Algorithms {
 public:
  std::size_t count() const override { return 1; }
  std::int64_t workspace() const override { return cublaslt::kWorkspaceCap; }
  std::string name(std::size_t /*algorithm*/) const override { return "modelled"; }
  void queue(std::size_t, CUstream_st*, const cublaslt::ProductArguments&) override {}
};

const Registration<cublaslt::AlgorithmSource> algorithms{
    {.name = "cublaslt",
     .algorithms = [](const cublaslt::Product&, cuda::Card&) -> std::unique_ptr<cublaslt::Algorithms> {
       ++asked.products;
       return std::make_unique<ModelledAlgorithms>();
     }}};

// Attention that is not cuDNN's asks for its products and runs our own kernels, which this program has not.
const Registration<Implementation<Attention>> attention_by_products{
    {.name = "cublaslt",
     .device_kind = "cuda",
     .preference = 10,
     .unsupported = cuda::unsupported_by_cublaslt,
     .make = [](const Attention& spec, Device& device) { return make_operation(spec, device, "modelled"); }}};

// The sums of a bias's gradient need no scratch, as those of few rows do not.
const Registration<cuda::BiasKernels> bias_kernels{
    {.name = "cuda",
     .epilogue = nullptr,
     .column_sums_scratch = [](const cuda::Matrix&) { return std::int64_t{0}; },
     .column_sums = nullptr,
     .narrow = nullptr}};

// 141 GB, of which the context takes 0.6. The card is here, for cuBLASLt is not asked for any other.
class ModelledH200 final : public ModelledCard, public cuda::CardDevice {
 public:
  ModelledH200() : ModelledCard("H200", 132, true, 150'100'000'000) {}
  cuda::Card& card() const override { return card_; }

 private:
  mutable cuda::testing::FakeRuntime runtime_;
  mutable cuda::Card card_{
      runtime_, {.name = "H200", .uuid = {}, .pci_bus_id = {}, .multiprocessors = 132, .major = 9}, 0};
};

// A sweep with its defaults, planned as a run plans it that has time for everything.
class PlannedDefaults {
 public:
  explicit PlannedDefaults(const std::string& name, const std::string& workload = "") {
    asked = {};
    Options options;
    options.sweep = name;
    options.workload = workload;
    const SweepType& type = *registry<SweepType>().find(name);
    const SweepRequest request = make_request(options, type, card_, steady_clock());
    const auto sweep = type.make(request, card_);
    PlannedSweep planned(sweep->plan(), request, card_, "");
    sweep->predict([] { return std::nullopt; });
    of_limits = asked;
    planned.stop_at_cap();
    for (const SweepPoint& point : planned.plan().points) {
      if (planned.predict(point).problem.empty()) {
        ++points;
        largest_batch = std::max(largest_batch, point.spec.batch);
      }
    }
    all = asked;
    state = sweep->to_json();
    budget_ns = static_cast<double>(options.time_budget.count());
  }

  Asked all;
  Asked of_limits;
  std::int64_t points = 0;  // that fit
  std::int64_t largest_batch = 0;
  Json state;
  double budget_ns = 0;

 private:
  ModelledH200 card_;
};

void expect_within_a_fifth_of_the_budget(const PlannedDefaults& planned) {
  const Asked& all = planned.all;
  ::testing::Test::RecordProperty("convolutions", static_cast<int>(all.convolutions));
  ::testing::Test::RecordProperty("attention", static_cast<int>(all.attention));
  ::testing::Test::RecordProperty("products", static_cast<int>(all.products));
  EXPECT_THAT(planned.points, Gt(30));
  EXPECT_THAT(all.ns(), Le(planned.budget_ns / 5))
      << all.convolutions << " convolutions, " << all.attention << " of attention and " << all.products
      << " products, of which " << planned.of_limits.convolutions << ", " << planned.of_limits.attention
      << " and " << planned.of_limits.products << " for the largest batches";
}

class DefaultSweep : public ::testing::TestWithParam<std::string> {};

TEST_P(DefaultSweep, IsPlannedForAnH200WithinAFifthOfTheTimeBudget) {
  const PlannedDefaults planned(GetParam());
  expect_within_a_fifth_of_the_budget(planned);
  EXPECT_THAT(planned.all.convolutions, Gt(30)) << "nothing was planned";
  EXPECT_THAT(planned.all.products, Gt(10));
}

TEST(SweepOfATransformer, IsPlannedForAnH200WithinAFifthOfTheTimeBudget) {
  const PlannedDefaults planned("batch", "gpt_small");
  expect_within_a_fifth_of_the_budget(planned);
  EXPECT_THAT(planned.all.attention, Gt(10));
  EXPECT_THAT(planned.all.products, Gt(100));
}

INSTANTIATE_TEST_SUITE_P(OnAnH200, DefaultSweep, ::testing::Values("batch", "kernels", "memory"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace bench::kernels::testing
