// How a single operation's samples come to the device, on a double of the CUDA runtime.
#include "kernels/workloads/operation_instance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/devices/cuda/device.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels {
namespace {

// Keeps the address of its input; the double's device memory is the host's.
class KeepsInput final : public ReferenceOperation {
 public:
  KeepsInput(const TensorDesc& tensor, const float*& input) : input_(input) {
    add_activation(Slot::src, Role::input, tensor);
    add_activation(Slot::dst, Role::output, tensor);
  }
  void run(const SlotPointers& pointers) override { input_ = static_cast<const float*>(pointers[Slot::src]); }
  double flops() const override { return 0; }

 private:
  const float*& input_;
};

struct Uploaded {
  std::vector<float> values;
  std::int64_t copies = 0;
};

Uploaded upload(const TensorDesc& tensor, const Excerpt& excerpt = {}) {
  cuda::testing::FakeRuntime runtime;
  cuda::CudaDevice device(cuda::testing::fake_backend(runtime), 0);
  runtime.calls.clear();
  const float* input = nullptr;
  OperationInstance instance(std::make_unique<KeepsInput>(tensor, input), device, 1, excerpt);
  instance.run();
  return {.values = {input, input + tensor.elements()}, .copies = runtime.times("copy")};
}

// Values that occur more than once: 24 random bits seldom agree.
double repeated_share(std::vector<float> values) {
  const auto count = static_cast<double>(values.size());
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  return static_cast<double>(repeated.size()) / count;
}

TEST(OperationInstanceSamples, AreAllDifferent) {
  const Uploaded uploaded = upload({.n = 1001, .c = 7, .layout = Layout::nhwc});
  EXPECT_EQ(uploaded.copies, 1) << "small ones travel together";
  ASSERT_EQ(uploaded.values.size(), 7007U);
  EXPECT_LT(repeated_share(uploaded.values), 0.01);
}

// 8 KiB each: 8192 of them are a piece of 64 MiB, and 8193 make two.
TEST(OperationInstanceSamples, TravelInPieces) {
  const Uploaded uploaded = upload({.n = 8193, .c = 2048, .layout = Layout::nhwc});
  EXPECT_EQ(uploaded.copies, 2);
  const auto last =
      upload({.n = 1, .c = 2048, .layout = Layout::nhwc}, {.first_sample = 8192, .skipped = {}});
  EXPECT_TRUE(std::equal(last.values.begin(), last.values.end(), uploaded.values.end() - 2048));
}

// 18 Mi values: 4 million travel, and are copied on the card until there are 8, 16 and all of them. What is
// not cut, because its values lie in another order, is the same.
TEST(OperationInstanceSamples, OfLargeOnesAPartTravelsAndIsRepeated) {
  const std::int64_t elements = std::int64_t{18} << 20;
  const Uploaded cut = upload({.n = 2, .c = elements, .layout = Layout::nhwc});
  EXPECT_EQ(cut.copies, 2 * (1 + 3));
  EXPECT_EQ(cut.values[5], cut.values[4'000'005]);
  EXPECT_NE(cut.values[5], cut.values[static_cast<std::size_t>(elements) + 5]) << "each sample another";
  const Uploaded whole = upload({.n = 2, .c = 18, .h = 1024, .w = 1024, .layout = Layout::nhwc});
  EXPECT_EQ(whole.copies, 2);
  const std::int64_t pixel = 5 * 1024 + 77;
  for (const std::int64_t sample : {0, 1}) {
    for (const std::int64_t channel : {0, 17}) {
      EXPECT_EQ(whole.values[static_cast<std::size_t>((sample << 20) * 18 + pixel * 18 + channel)],
                cut.values[static_cast<std::size_t>((sample << 20) * 18 + (channel << 20) + pixel)]);
    }
  }
}

TEST(OperationInstanceSamples, MayBeNone) {
  for (const TensorDesc& empty : {TensorDesc{.n = 0, .c = 7, .layout = Layout::nhwc},
                                  TensorDesc{.n = 3, .c = 0, .layout = Layout::nhwc}}) {
    const Uploaded uploaded = upload(empty);
    EXPECT_EQ(uploaded.copies, 0);
    EXPECT_TRUE(uploaded.values.empty());
  }
}

// Channels 2 and 3 of samples 5 and 6, in either layout.
TEST(OperationInstanceSamples, OfAnExcerptAreThoseOfTheWhole) {
  const Uploaded whole = upload({.n = 8, .c = 4, .h = 3, .w = 5, .layout = Layout::nchw});
  const Excerpt excerpt{.first_sample = 5, .skipped = {{Slot::src, 2 * 15}}};
  const Uploaded part = upload({.n = 2, .c = 2, .h = 3, .w = 5, .layout = Layout::nchw}, excerpt);
  for (const std::int64_t sample : {0, 1}) {
    EXPECT_TRUE(std::equal(part.values.begin() + sample * 30, part.values.begin() + (sample + 1) * 30,
                           whole.values.begin() + (5 + sample) * 60 + 30));
  }
  const Uploaded nhwc = upload({.n = 2, .c = 2, .h = 3, .w = 5, .layout = Layout::nhwc}, excerpt);
  EXPECT_EQ(nhwc.values[3], part.values[16]) << "channel 1 of pixel 1";
}

}  // namespace
}  // namespace bench::kernels
