// cuDNN's answers for cards that are not here, through the interface that runs use.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "absent_card.h"
#include "bench/error.h"
#include "cards.h"
#include "kernels/backends/cudnn/plans.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels::testing {
namespace {

using cudnn::Plan;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Le;
using Direction = Conv2d::Direction;

class CudnnPlanning : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }
};

Conv2d three_by_three(Dtype dtype) {
  return {.batch = 32,
          .in_channels = 64,
          .height = 56,
          .width = 56,
          .out_channels = 64,
          .kernel_h = 3,
          .kernel_w = 3,
          .pad_h = 1,
          .pad_w = 1,
          .dtype = dtype};
}

Conv2d stem(Dtype dtype) {
  return {.batch = 256,
          .in_channels = 3,
          .height = 224,
          .width = 224,
          .out_channels = 64,
          .kernel_h = 7,
          .kernel_w = 7,
          .stride_h = 2,
          .stride_w = 2,
          .pad_h = 3,
          .pad_w = 3,
          .dtype = dtype};
}

std::unique_ptr<Operation> planned(const Conv2d& spec, const std::string& card_name) {
  AbsentCard device(card_name, card(card_name).card);
  return make_operation(spec, device, "cudnn");
}

std::int64_t workspace_of(const Conv2d& spec, const std::string& card_name) {
  const auto operation = planned(spec, card_name);
  const SlotInfo* const scratch = operation->find(Slot::workspace);
  return scratch == nullptr ? 0 : scratch->bytes;
}

std::string refusal(const Conv2d& spec, cuda::Card& on) {
  try {
    cudnn::plans_for(cudnn::bare(spec), on);
    return "planned";
  } catch (const Unsupported& error) {
    return error.what();
  }
}

TEST(CudnnCards, HaveEveryPropertyThatCudnnWants) {
  ASSERT_EQ(cards().size(), 5U);
  for (const Card& card : cards()) {
    EXPECT_EQ(nlohmann::json::parse(card.card->properties()).size(), 23U) << card.name;
  }
}

TEST_F(CudnnPlanning, RefusesBf16OnTheT4WithAReason) {
  const auto reason = cudnn::unsupported(three_by_three(Dtype::bf16), card("T4").card->compute_capability());
  ASSERT_TRUE(reason);
  expect_words(*reason);
  EXPECT_EQ(cudnn::unsupported(three_by_three(Dtype::fp16), card("T4").card->compute_capability()),
            std::nullopt);
  // cuDNN agrees.
  EXPECT_THAT(refusal(three_by_three(Dtype::bf16), *card("T4").card), HasSubstr("no plan"));
}

TEST_F(CudnnPlanning, RefusesCardsThatCudnnDoesNotKnow) {
  for (const int compute_capability : {70, 999}) {
    cuda::Card unknown(compute_capability, 132, card("H200").card->properties());
    EXPECT_THAT(refusal(three_by_three(Dtype::fp16), unknown),
                HasSubstr("knows compute capabilities 7.5 to"));
  }
}

TEST_F(CudnnPlanning, SeparatesFp32FromTf32ByTensorCores) {
  for (const char* name : {"RTX 3060", "A100", "H200"}) {
    const auto plans = cudnn::plans_for(cudnn::bare(three_by_three(Dtype::tf32)), *card(name).card);
    EXPECT_TRUE(std::ranges::any_of(plans->list(), &Plan::tensor_cores)) << name;
    const auto tried = cudnn::select(plans->list(), Dtype::fp32, 1 << 30, 8).plans;
    ASSERT_FALSE(tried.empty()) << name;
    for (const std::size_t plan : tried) {
      EXPECT_FALSE(plans->list()[plan].tensor_cores) << name;
    }
  }
}

// Counted as the direct algorithm it would be faster than the card.
TEST_F(CudnnPlanning, KnowsWinogradByTheEnginesNotes) {
  for (const char* name : {"T4", "RTX 3060"}) {
    const Conv2d convolution = cudnn::bare(three_by_three(Dtype::fp32));
    const auto plans = cudnn::plan_source().plans(convolution, *card(name).card);
    EXPECT_TRUE(std::ranges::any_of(plans->list(), [&](const Plan& plan) {
      return cudnn::keeps(plan, Dtype::fp32) && cudnn::share_of_products(plan, convolution) <= 1 / 2.25;
    })) << name;
  }
}

TEST_F(CudnnPlanning, CapsTheWorkspaceOfTheStem) {
  Conv2d spec = stem(Dtype::fp16);
  spec.direction = Direction::backward_data;
  const auto plans = cudnn::plans_for(cudnn::bare(spec), *card("T4").card);
  const auto greediest = std::ranges::max(plans->list(), {}, &Plan::workspace).workspace;
  const std::int64_t cap = cudnn::workspace_cap(cudnn::bare(spec));
  EXPECT_THAT(greediest, Gt(cap));  // else this proves nothing
  EXPECT_THAT(workspace_of(spec, "T4"), Le(cap));
}

TEST_F(CudnnPlanning, FusesWhatCudnnHasKernelsFor) {
  for (const Card& card : cards()) {
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
      Conv2d spec = three_by_three(dtype);
      spec.bias = spec.residual = true;
      spec.activation = Activation::relu;
      const auto fused = planned(spec, card.name);
      EXPECT_TRUE(fused->in_place_sum()) << card.name;
      EXPECT_THAT(fused->algorithm(), ::testing::Not(HasSubstr("epilogue"))) << card.name;
    }
  }
}

// leaky_relu has no ready-made kernel: the convolution alone, and our own kernel after it. Our kernel reads
// the residual after the convolution has written its result.
TEST_F(CudnnPlanning, LeavesToOurKernelWhatCudnnCannotFuse) {
  Conv2d spec = three_by_three(Dtype::fp32);
  spec.bias = true;
  spec.activation = Activation::leaky_relu;
  const auto operation = planned(spec, "A100");
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr) {
    GTEST_SKIP() << "with a driver, or what another test loaded in its place, cuDNN compiles a kernel";
  }
  EXPECT_THAT(operation->algorithm(), HasSubstr("epilogue"));
  spec.residual = true;
  EXPECT_FALSE(planned(spec, "A100")->in_place_sum());
}

TEST_F(CudnnPlanning, KeepsRoomForANarrowBiasInTraining) {
  Conv2d spec = three_by_three(Dtype::fp16);
  spec.bias = true;
  const std::int64_t inference = workspace_of(spec, "A100");
  spec.training = true;  // the bias is fp32, cuDNN wants fp16
  EXPECT_EQ(workspace_of(spec, "A100"), inference + 256);
  spec.dtype = Dtype::fp32;
  const std::int64_t wide = workspace_of(spec, "A100");
  spec.training = false;
  EXPECT_EQ(workspace_of(spec, "A100"), wide);
}

TEST_F(CudnnPlanning, AsksOncePerConvolutionAndCard) {
  const auto convolution = cudnn::bare(three_by_three(Dtype::fp16));
  const auto first = cudnn::plans_for(convolution, *card("A100").card);
  EXPECT_EQ(cudnn::plans_for(convolution, *card("A100").card), first);
  EXPECT_NE(cudnn::plans_for(convolution, *card("T4").card), first);
  auto other = convolution;
  other.bias = true;
  EXPECT_NE(cudnn::plans_for(other, *card("A100").card), first);
}

// A thousand graphs with forty plans each would take a gigabyte.
TEST_F(CudnnPlanning, KeepsThePlansThatAreTriedAlone) {
  const Conv2d convolution = cudnn::bare(three_by_three(Dtype::fp16));
  const auto plans = cudnn::plans_for(convolution, *card("H100").card);
  const std::int64_t cap = cudnn::workspace_cap(convolution);
  const auto tried = cudnn::candidates_of(plans, Dtype::fp16, cap, 8).all;
  EXPECT_THAT(plans->list().size(), Gt(tried.size()));
  EXPECT_EQ(std::ranges::count(plans->list(), false, &Plan::unknown), std::ssize(tried));
  const auto again = cudnn::candidates_of(plans, Dtype::fp16, cap, 8).all;
  EXPECT_TRUE(std::ranges::equal(tried, again, {}, &cudnn::Candidate::plan, &cudnn::Candidate::plan));
  for (const cudnn::Candidate& candidate : again) {
    EXPECT_THAT(plans->name(candidate.plan), HasSubstr("eng"));
  }
}

TEST_F(CudnnPlanning, NamesThePlan) {
  const auto plans = cudnn::plans_for(cudnn::bare(three_by_three(Dtype::fp16)), *card("A100").card);
  EXPECT_THAT(plans->name(0), HasSubstr("eng"));
}

}  // namespace
}  // namespace bench::kernels::testing
