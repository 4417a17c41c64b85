// The workspace of eager PyTorch's convolutions, as cuDNN plans it for cards that are not here.
#include "kernels/backends/cudnn/eager_choice.h"

#include <gmock/gmock.h>

#include <array>
#include <utility>

#include "bench/error.h"
#include "bench/modelled.h"
#include "bench/registry.h"
#include "cards.h"
#include "kernels/devices/cuda/card_properties.h"
#include "tests/bench/model/program_data.h"

namespace bench::kernels::testing {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;

class EagerChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }
};

Conv2d eager_three_by_three(Dtype dtype, Direction direction) {
  return {.batch = 32,
          .in_channels = 64,
          .height = 56,
          .width = 56,
          .out_channels = 64,
          .kernel_h = 3,
          .kernel_w = 3,
          .pad_h = 1,
          .pad_w = 1,
          .direction = direction,
          .dtype = dtype,
          .src_layout = Layout::nchw,
          .dst_layout = Layout::nchw};
}

Conv2d eager_stem(Dtype dtype) {
  Conv2d spec = eager_three_by_three(dtype, Direction::forward);
  spec.in_channels = 3;
  spec.height = spec.width = 224;
  spec.kernel_h = spec.kernel_w = 7;
  spec.stride_h = spec.stride_w = 2;
  spec.pad_h = spec.pad_w = 3;
  return spec;
}

std::vector<Conv2d> some_convolutions() {
  std::vector<Conv2d> all;
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    all.push_back(eager_stem(dtype));
    for (const Direction direction :
         {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
      all.push_back(eager_three_by_three(dtype, direction));
    }
  }
  return all;
}

// The data sheet tells what the heuristics want to know.
TEST_F(EagerChoice, ACardByItsDataSheetIsPlannedAsTheRecordedOne) {
  constexpr std::array<std::pair<const char*, const char*>, 5> kCards{{{"T4", "t4"},
                                                                       {"RTX 3060", "rtx3060-12gb"},
                                                                       {"A100", "a100-40gb"},
                                                                       {"H200", "h200"},
                                                                       {"H100", "h100-sxm"}}};
  for (const auto& [name, id] : kCards) {
    const Gpu& gpu = bench::testing::card(id);
    cuda::Card made(gpu.compute_capability, gpu.multiprocessors, cuda::cudnn_properties(gpu));
    for (const Conv2d& convolution : some_convolutions()) {
      const auto bytes = cudnn::eager_workspace(convolution, made);
      EXPECT_TRUE(bytes) << name << ' ' << cudnn::described(convolution);
      EXPECT_EQ(bytes, cudnn::eager_workspace(convolution, *card(name).card))
          << name << ' ' << cudnn::described(convolution);
    }
  }
}

TEST_F(EagerChoice, IsTheFirstPlanThatKeepsThePromise) {
  const Conv2d convolution = eager_three_by_three(Dtype::fp32, Direction::forward);
  const auto plans = cudnn::plan_source().plans(convolution, *card("A100").card);
  const auto list = plans->list();
  ASSERT_TRUE(list.front().tensor_cores) << "else this proves nothing";
  const auto kept =
      std::ranges::find_if(list, [](const cudnn::Plan& plan) { return cudnn::keeps(plan, Dtype::fp32); });
  ASSERT_NE(kept, list.end());
  EXPECT_EQ(cudnn::eager_workspace(convolution, *card("A100").card), kept->workspace);
}

TEST_F(EagerChoice, NeedsRoomToRearrangeChannelsFirst) {
  Conv2d convolution = eager_three_by_three(Dtype::fp16, Direction::forward);
  const auto first = cudnn::eager_workspace(convolution, *card("A100").card);
  convolution.src_layout = convolution.dst_layout = Layout::nhwc;
  const auto last = cudnn::eager_workspace(convolution, *card("A100").card);
  ASSERT_TRUE(first && last);
  EXPECT_THAT(*first, Gt(*last));
}

TEST_F(EagerChoice, SaysWhoPlanned) {
  EXPECT_THAT(cudnn::planned_by(*card("T4").card), ::testing::MatchesRegex("cuDNN 9\\.[0-9]+ for sm_75"));
}

TEST(EagerChoiceOfOldCards, IsNone) {
  cuda::Card volta(70, 80, "{}");
  EXPECT_TRUE(cudnn::cannot_plan(volta));
  EXPECT_THROW(cudnn::eager_workspace(eager_stem(Dtype::fp32), volta), Unsupported);
}

// The planner that a modelled device is asked through.
TEST_F(EagerChoice, OfANetworkIsTheLargestOfItsConvolutions) {
  const auto device = registry<ModelledDevices>().find("modelled")->open("t4", {});
  const LibraryPlanner& planner = *registry<LibraryPlanner>().find("cudnn");
  const WorkloadType& resnet = *registry<WorkloadType>().find("resnet18");
  WorkloadSpec spec;
  spec.mode = "infer";
  spec.dtype = Dtype::fp16;
  spec.batch = 8;
  const PlannedWorkspace planned =
      planner.eager_workspace(*resnet.configure(spec), {.dtype = Dtype::fp16, .batch = 8}, *device);
  EXPECT_THAT(planned.by, HasSubstr("sm_75")) << planned.why_not;
  EXPECT_THAT(planned.bytes, Gt(0));
  EXPECT_THAT(planned.largest, HasSubstr("forward fp16 n8"));
  const MemoryPlan engine = planner.engine_plan(*resnet.configure(spec), *device);
  EXPECT_EQ(engine.at_peak.total(), engine.peak);
  EXPECT_THAT(engine.at_peak[MemoryCategory::weights], Gt(2 * 11'000'000));
}

}  // namespace
}  // namespace bench::kernels::testing
