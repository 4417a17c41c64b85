// The plans that are tried, with how much workspace, and those that are left once they have been built, on
// made-up plans.
#include "kernels/backends/cudnn/plans.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "bench/error.h"
#include "tests/bench/support/manual_clock.h"

namespace bench::kernels::cudnn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr std::int64_t kMebibyte = 1024 * 1024;

Plan plan(std::int64_t workspace, bool tensor_cores = false) {
  return {.engine = 1, .workspace = workspace, .tensor_cores = tensor_cores};
}

TEST(CudnnSelect, TakesTheFirstWithinTheCap) {
  const std::vector plans{plan(10), plan(101), plan(100), plan(3), plan(50), plan(7)};
  const Selection selection = select(plans, Dtype::fp16, 100, 3);
  EXPECT_THAT(selection.plans, ElementsAre(0, 2, 3));
  EXPECT_THAT(selection.reserve, Optional(5));
  EXPECT_EQ(selection.workspace, 100);
}

TEST(CudnnSelect, CompilesOneOnlyAndThatLast) {
  std::vector<Plan> plans(6);
  for (const std::size_t i : {0, 1, 2, 4}) {
    plans[i].compiles = true;
  }
  const Selection selection = select(plans, Dtype::fp16, 100, 4);
  EXPECT_THAT(selection.plans, ElementsAre(3, 5, 0));
  plans = std::vector<Plan>(4, plans[0]);
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 4).plans, ElementsAre(0));
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 4).reserve, Optional(3));
}

TEST(CudnnSelect, CompilesNoneNextToThreeOnTheBestUnits) {
  std::vector plans{plan(0, true), plan(0, true), plan(0, true), plan(0), plan(0, true)};
  plans[0].compiles = true;
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 8).plans, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 8).reserve, Optional(0));
  plans[4].workspace = 200;
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 8).plans, ElementsAre(1, 2, 3, 0)) << "two within the cap";
  for (Plan& each : plans) {
    each = {.compiles = each.compiles};
  }
  EXPECT_THAT(select(plans, Dtype::fp32, 100, 8).plans, ElementsAre(1, 2, 3, 4))
      << "its best are the ordinary";
  EXPECT_THAT(select(plans, Dtype::tf32, 100, 8).plans, ElementsAre(1, 2, 3, 4, 0));
}

TEST(CudnnSelect, LeavesOutWhatCudnnSaysNothingOf) {
  std::vector<Plan> plans{plan(10), plan(0), plan(30)};
  plans[1].unknown = true;
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 8).plans, ElementsAre(0, 2));
  EXPECT_THAT(select(plans, Dtype::fp16, 5, 8).plans, ElementsAre(0));
}

TEST(CudnnSelect, PlansWorkspaceForTheReserveToo) {
  const std::vector plans{plan(10), plan(20), plan(99)};
  const Selection selection = select(plans, Dtype::fp16, 100, 1);
  EXPECT_THAT(selection.plans, ElementsAre(0));
  EXPECT_THAT(selection.reserve, Optional(2));
  EXPECT_EQ(selection.workspace, 99);
}

TEST(CudnnSelect, KeepsFp32OffTheTensorCores) {
  const std::vector plans{plan(0, true), plan(5), plan(0, true)};
  EXPECT_THAT(select(plans, Dtype::fp32, 100, 8).plans, ElementsAre(1));
  EXPECT_THAT(select(plans, Dtype::tf32, 100, 8).plans, ElementsAre(0, 1, 2));
  EXPECT_THAT(select(plans, Dtype::bf16, 100, 8).plans, ElementsAre(0, 1, 2));
}

TEST(CudnnSelect, NeverNarrowsInputs) {
  std::vector plans{plan(0), plan(5)};
  plans[0].narrows_inputs = true;
  for (const Dtype dtype : kAllDtypes) {
    EXPECT_THAT(select(plans, dtype, 100, 8).plans, ElementsAre(1)) << name_of(dtype);
  }
}

// As PyTorch does, whose plans are the ones to compare with.
TEST(CudnnSelect, AddsPartialSumsInANarrowerTypeInSixteenBitsOnly) {
  std::vector plans{plan(0), plan(5)};
  plans[0].narrows_sums = true;
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 8).plans, ElementsAre(0, 1));
  EXPECT_THAT(select(plans, Dtype::bf16, 100, 8).plans, ElementsAre(0, 1));
  EXPECT_THAT(select(plans, Dtype::tf32, 100, 8).plans, ElementsAre(1));
  EXPECT_THAT(select(plans, Dtype::fp32, 100, 8).plans, ElementsAre(1));
}

TEST(CudnnSelect, FallsBackOnTheLeanestWhereNoneFits) {
  const std::vector plans{plan(900), plan(0, true), plan(300), plan(400)};
  const Selection selection = select(plans, Dtype::fp32, 100, 8);
  EXPECT_THAT(selection.plans, ElementsAre(2));
  EXPECT_EQ(selection.workspace, 300);
}

TEST(CudnnSelect, IsEmptyWhereNoneKeepsThePromise) {
  const std::vector plans{plan(0, true)};
  EXPECT_THAT(select(plans, Dtype::fp32, 100, 8).plans, IsEmpty());
  EXPECT_THAT(select({}, Dtype::fp16, 100, 8).plans, IsEmpty());
}

// By Lavin and Gray 2015, arXiv:1509.09308: F(2×2, 3×3) saves 2.25 times, F(4×4, 3×3) 4 times.
TEST(CudnnPlan, CountsTheProductsOfWinogradsTiles) {
  const auto share = [](int tile, std::int64_t kernel_h, std::int64_t kernel_w) {
    Plan plan;
    plan.winograd_tile = tile;
    return share_of_products(plan, {.kernel_h = kernel_h, .kernel_w = kernel_w});
  };
  EXPECT_DOUBLE_EQ(share(4, 3, 3), 1 / 2.25);
  EXPECT_DOUBLE_EQ(share(6, 3, 3), 1 / 4.0);
  EXPECT_DOUBLE_EQ(share(13, 5, 5), 169.0 / (81 * 25));
  EXPECT_DOUBLE_EQ(share(4, 3, 1), 2.0 / 3) << "of one axis";
  EXPECT_DOUBLE_EQ(share(0, 3, 3), 1);
  EXPECT_DOUBLE_EQ(share(4, 7, 7), 1) << "no tile of it";
}

TEST(CudnnWorkspaceCap, HoldsACopyOfEachTensor) {
  const Conv2d spec{.batch = 64,
                    .in_channels = 64,
                    .height = 56,
                    .width = 56,
                    .out_channels = 128,
                    .kernel_h = 3,
                    .kernel_w = 3,
                    .pad_h = 1,
                    .pad_w = 1};
  const std::int64_t copies = spec.src().bytes() + spec.dst().bytes() + spec.weight_count() * 4;
  EXPECT_EQ(workspace_cap(bare(spec)), copies + 4 * kMebibyte);
  EXPECT_EQ(workspace_cap(bare(Conv2d{.batch = 1, .in_channels = 16, .height = 7, .width = 7})),
            32 * kMebibyte);
}

// Plans by the workspace that they want when built; those that are missing cannot be.
class BuildablePlans final : public Plans {
 public:
  explicit BuildablePlans(std::map<std::size_t, std::int64_t> wanted) : wanted_(std::move(wanted)) {}
  std::span<const Plan> list() const override { return {}; }
  std::string name(std::size_t /*plan*/) const override { return ""; }
  std::optional<std::int64_t> build(std::size_t plan) override {
    tried_.push_back(plan);
    clock.advance(takes);
    if (lack_memory.contains(plan)) {
      throw OutOfMemory("plan " + std::to_string(plan) + " found no memory", 0);
    }
    const auto at = wanted_.find(plan);
    if (at == wanted_.end()) {
      refusal_ = "no plan " + std::to_string(plan) + " here";
      return std::nullopt;
    }
    return at->second;
  }
  std::string last_refusal() const override { return refusal_; }
  void run(std::size_t /*plan*/, CUstream_st* /*stream*/, const PlanArguments& /*arguments*/) override {}
  const std::vector<std::size_t>& tried() const { return tried_; }

  std::set<std::size_t> lack_memory;
  std::chrono::nanoseconds takes{0};  // to build one
  bench::testing::ManualClock clock;

 private:
  std::map<std::size_t, std::int64_t> wanted_;
  std::vector<std::size_t> tried_;
  std::string refusal_;
};

std::shared_ptr<BuildablePlans> plans_of(std::map<std::size_t, std::int64_t> wanted) {
  return std::make_shared<BuildablePlans>(std::move(wanted));
}

// Plans 0, 1 and 2, and 3 in reserve.
std::vector<Candidate> candidates_from(const std::shared_ptr<BuildablePlans>& plans) {
  std::vector<Candidate> candidates;
  for (const std::size_t plan : {0, 1, 2, 3}) {
    candidates.push_back({.plans = plans, .plan = plan, .bare = false, .reserve = plan == 3});
  }
  return candidates;
}

std::vector<std::size_t> plans_in(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> plans;
  for (const Candidate& candidate : candidates) {
    plans.push_back(candidate.plan);
  }
  return plans;
}

// With 100 B of workspace.
std::vector<std::size_t> left_of(const std::shared_ptr<BuildablePlans>& plans,
                                 std::chrono::nanoseconds bound = kMostBuilding) {
  CompileBudget budget{cuda::Card(75, 40, "{}")};
  return plans_in(prepared(candidates_from(plans), 100, "a convolution", budget, bound, plans->clock));
}

std::string refusal_of(const std::shared_ptr<BuildablePlans>& plans) {
  try {
    left_of(plans);
    return "";
  } catch (const Unsupported& error) {
    return error.what();
  }
}

TEST(CudnnCandidates, KeepWhatCanBeBuiltWithinThePlannedWorkspace) {
  const auto plans = plans_of({{0, 101}, {2, 100}, {3, 0}});
  EXPECT_THAT(left_of(plans), ElementsAre(2));
  EXPECT_THAT(plans->tried(), ElementsAre(0, 1, 2));  // the reserve is not even built
}

TEST(CudnnCandidates, FallBackOnTheReserve) {
  EXPECT_THAT(left_of(plans_of({{1, 500}, {3, 7}})), ElementsAre(3));
}

// The first build, which may open a library, is not counted.
TEST(CudnnCandidates, AreNotBuiltForLongerThanTheBound) {
  const auto plans = plans_of({{0, 0}, {1, 0}, {2, 0}});
  plans->takes = kMostBuilding / 2;
  EXPECT_THAT(left_of(plans), ElementsAre(0, 1, 2));
  plans->takes = kMostBuilding;
  EXPECT_THAT(left_of(plans), ElementsAre(0, 1));
  const auto slow = plans_of({{2, 0}, {3, 0}});
  slow->takes = 10 * kMostBuilding;
  EXPECT_THAT(left_of(slow), ElementsAre(2)) << "until one can be used, however long that takes";
}

TEST(CudnnCandidates, WithoutABoundTheFirstThatIsUsableIsBuiltAlone) {
  const auto plans = plans_of({{0, 101}, {1, 0}, {2, 0}});
  EXPECT_THAT(left_of(plans, std::chrono::nanoseconds(0)), ElementsAre(1));
  EXPECT_THAT(plans->tried(), ElementsAre(0, 1));
}

TEST(CudnnCandidates, WhereNoneIsLeftSayWhy) {
  EXPECT_EQ(
      refusal_of(plans_of({})),
      "cuDNN could build none of its plans for a convolution in the planned 100 B of workspace: no plan 3 "
      "here");
  EXPECT_EQ(refusal_of(plans_of({{0, 101}, {1, 101}, {2, 101}, {3, 101}})),
            "cuDNN could build none of its plans for a convolution in the planned 100 B of workspace");
}

// They are shared by all who ask for the same convolution, and what failed may have been for want of memory.
TEST(CudnnCandidates, StayAsTheyWereWhereTheyFailAndMayBeTriedAgain) {
  const auto plans = plans_of({{0, 0}, {1, 101}});
  const std::vector<Candidate> candidates = candidates_from(plans);
  CompileBudget budget{cuda::Card(75, 40, "{}")};
  plans->lack_memory = {0};
  EXPECT_THROW(prepared(candidates, 100, "a convolution", budget), OutOfMemory);
  EXPECT_THAT(plans_in(candidates), ElementsAre(0, 1, 2, 3));
  plans->lack_memory = {};
  EXPECT_THAT(plans_in(prepared(candidates, 100, "a convolution", budget)), ElementsAre(0));
}

// 24 convolutions of a network, each with a favourite that takes a second to compile.
TEST(CudnnCandidates, OfAWorkloadCompileUntilTheirBudgetIsSpent) {
  cuda::Card card(75, 40, "{}");
  int compiled = 0;
  const auto prepare = [&](std::map<std::size_t, std::int64_t> wanted) {
    const auto plans = plans_of(std::move(wanted));
    std::vector<Candidate> candidates = candidates_from(plans);
    candidates[0].compiles = true;
    plans->takes = std::chrono::seconds(1);
    const auto left = plans_in(prepared(candidates, 100, "a convolution", CompileBudget::of(card),
                                        std::chrono::minutes(1), plans->clock));
    compiled += left.front() == 0 ? 1 : 0;
    return std::pair(plans->tried(), left);
  };
  const auto [tried, left] = prepare({{0, 0}, {1, 0}, {2, 0}});
  EXPECT_THAT(tried, ElementsAre(1, 2, 0)) << "last, so that no bound ends with it alone";
  EXPECT_THAT(left, ElementsAre(0, 1, 2)) << "in the candidates' order";
  for (int i = 1; i < 24; ++i) {
    prepare({{0, 0}, {1, 0}, {2, 0}});
  }
  EXPECT_EQ(compiled, 5) << "seconds";
  EXPECT_THAT(prepare({{0, 0}}).second, ElementsAre(0)) << "where there is no other";
  EXPECT_THAT(prepare({{0, 0}, {1, 0}}).second, ElementsAre(1));
  card.begin_workload();
  EXPECT_THAT(prepare({{0, 0}, {1, 0}}).second, ElementsAre(0, 1)) << "the next one's is full";
}

TEST(CudnnCandidates, DoWithoutAPlanThatLacksMemory) {
  const auto plans = plans_of({{0, 0}, {1, 0}, {3, 0}});
  plans->lack_memory = {0};
  EXPECT_THAT(left_of(plans), ElementsAre(1));
  plans->lack_memory = {0, 1};
  EXPECT_THAT(left_of(plans), ElementsAre(3)) << "the reserve may take less";
  plans->lack_memory = {0, 1, 3};
  try {
    left_of(plans);
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(), "plan 3 found no memory");
  }
}

}  // namespace
}  // namespace bench::kernels::cudnn
