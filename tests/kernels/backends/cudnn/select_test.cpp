// The plans that are tried, and their workspace, on made-up plans.
#include "kernels/backends/cudnn/candidates.h"

#include <gmock/gmock.h>

namespace bench::kernels::cudnn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr std::int64_t kMebibyte = 1024 * 1024;

Plan plan(std::int64_t workspace, bool tensor_cores = false, bool narrows = false) {
  return {.engine = 1, .workspace = workspace, .tensor_cores = tensor_cores, .narrows = narrows};
}

TEST(CudnnSelect, TakesTheFirstWithinTheCap) {
  const std::vector plans{plan(10), plan(101), plan(100), plan(3), plan(50), plan(7)};
  const Selection selection = select(plans, Dtype::fp16, 100, 3);
  EXPECT_THAT(selection.plans, ElementsAre(0, 2, 3));
  EXPECT_THAT(selection.reserve, Optional(5));
  EXPECT_EQ(selection.workspace, 100);
}

TEST(CudnnSelect, CompilesOneOnly) {
  std::vector<Plan> plans(6);
  for (const std::size_t i : {0, 1, 2, 4}) {
    plans[i].compiles = true;
  }
  const Selection selection = select(plans, Dtype::fp16, 100, 4);
  EXPECT_THAT(selection.plans, ElementsAre(0, 3, 5));
  plans = std::vector<Plan>(4, plans[0]);
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 4).plans, ElementsAre(0));
  EXPECT_THAT(select(plans, Dtype::fp16, 100, 4).reserve, Optional(3));
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

TEST(CudnnSelect, NeverSumsInANarrowerType) {
  const std::vector plans{plan(0, true, true), plan(5)};
  for (const Dtype dtype : kAllDtypes) {
    EXPECT_THAT(select(plans, dtype, 100, 8).plans, ElementsAre(1)) << name_of(dtype);
  }
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

}  // namespace
}  // namespace bench::kernels::cudnn
