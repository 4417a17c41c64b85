// Steps whose tensors have more than 2^31 elements, planned for an H200 that is not here: by cuDNN's plans,
// our own kernels and cuBLASLt's cap, as on the card.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "absent_card.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "cards.h"
#include "kernels/backends/cuda/parted_operation.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/pool/pool.h"

namespace bench::kernels::testing {
namespace {

class LargeBatches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }

  MemoryPlan plan(const std::string& network, const char* mode, std::int64_t batch,
                  const std::map<std::string, std::string>& options) {
    const WorkloadType* const type = registry<WorkloadType>().find(network);
    WorkloadSpec spec{.mode = mode, .dtype = Dtype::fp16, .batch = batch, .options = options};
    for (const CommandOption& option : type->options) {
      spec.options.try_emplace(option.name, option.default_value);
    }
    return type->configure(spec)->plan(device_);
  }

  AbsentCard device_{card("H200").name, card("H200").card};
};

// Bytes grow with the batch, whether its tensors are counted in one part or in several.
TEST_F(LargeBatches, OfNetworksAreWhatTheCardsMemoryHolds) {
  struct Case {
    std::string network;
    const char* mode;
    std::int64_t counted;  // the largest batch of fewer than 2^31 elements in every tensor
    std::map<std::string, std::string> options;
  };
  for (const Case& tested : {Case{"resnet50", "infer", 2674, {}}, Case{"resnet50", "train", 2674, {}},
                             Case{"unet", "infer", 63, {{"image-size", "512"}}},
                             Case{"unet", "train", 63, {{"image-size", "512"}}}}) {
    SCOPED_TRACE(tested.network + " " + tested.mode);
    const auto last =
        static_cast<double>(plan(tested.network, tested.mode, tested.counted, tested.options).peak);
    const MemoryPlan next = plan(tested.network, tested.mode, tested.counted + 1, tested.options);
    EXPECT_NEAR(static_cast<double>(next.peak) / last, 1, 0.05);
    const MemoryPlan twice = plan(tested.network, tested.mode, 2 * tested.counted, tested.options);
    EXPECT_NEAR(static_cast<double>(twice.peak) / last, 2, 0.2);
  }
}

Conv2d large_convolution(Conv2d::Direction direction) {
  return {.batch = 5000,
          .in_channels = 64,
          .height = 112,
          .width = 112,
          .out_channels = 64,
          .kernel_h = 3,
          .kernel_w = 3,
          .pad_h = 1,
          .pad_w = 1,
          .direction = direction,
          .bias = direction != Conv2d::Direction::backward_data,
          .dtype = Dtype::fp16,
          .training = true};
}

TEST_F(LargeBatches, OfAConvolutionAreDoneInParts) {
  for (const auto direction :
       {Conv2d::Direction::forward, Conv2d::Direction::backward_data, Conv2d::Direction::backward_weights}) {
    const Conv2d large = large_convolution(direction);
    const auto operation = make_operation(large, device_);
    EXPECT_NE(dynamic_cast<const cuda::PartedOperation*>(operation.get()), nullptr);
    Conv2d small = large;
    small.batch = 1000;
    const auto whole = make_operation(small, device_);
    ASSERT_EQ(operation->slots().size(), whole->slots().size());
    for (const SlotInfo& slot : whole->slots()) {
      if (slot.role == Role::scratch) {
        continue;
      }
      const bool of_samples = slot.plain_count == 0;
      EXPECT_EQ(operation->find(slot.slot)->bytes, of_samples ? 5 * slot.bytes : slot.bytes)
          << name_of(slot.slot);
    }
  }
}

// What no part can hold is refused with the limit.
TEST_F(LargeBatches, OfOneSampleBeyondTheLimitNameIt) {
  try {
    make_operation(
        Pool{.src = {.n = 2, .c = 64, .h = 32768, .w = 32768, .layout = Layout::nhwc, .dtype = Dtype::fp16},
             .kernel_h = 2,
             .kernel_w = 2,
             .stride_h = 2,
             .stride_w = 2},
        device_, "cuda");
    FAIL() << "it was made";
  } catch (const Unsupported& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("count to 2147483647, a sample has"));
  }
}

}  // namespace
}  // namespace bench::kernels::testing
