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

Uploaded upload(const TensorDesc& tensor, std::int64_t first_sample = 0) {
  cuda::testing::FakeRuntime runtime;
  cuda::CudaDevice device(cuda::testing::fake_backend(runtime), 0);
  runtime.calls.clear();
  const float* input = nullptr;
  OperationInstance instance(std::make_unique<KeepsInput>(tensor, input), device, 1, first_sample);
  instance.run();
  return {.values = {input, input + tensor.elements()}, .copies = runtime.times("copy")};
}

// Whether sample i is sample i mod 2, and the two differ.
bool alternates(const Uploaded& uploaded, std::int64_t elements) {
  const auto& all = uploaded.values;
  for (std::size_t at = static_cast<std::size_t>(2 * elements); at < all.size(); ++at) {
    if (all[at] != all[at - static_cast<std::size_t>(2 * elements)]) {
      return false;
    }
  }
  return !std::equal(all.begin(), all.begin() + elements, all.begin() + elements);
}

TEST(OperationInstanceSamples, ManySmallOnesTravelTogether) {
  const Uploaded uploaded = upload({.n = 1001, .c = 7, .layout = Layout::nhwc});
  EXPECT_EQ(uploaded.copies, 1);
  EXPECT_EQ(uploaded.values.size(), 7007U);
  EXPECT_TRUE(alternates(uploaded, 7));
}

// 4 KiB each: 256 of them are a piece of 1 MiB, and 641 make three pieces, the last of which is shorter.
TEST(OperationInstanceSamples, TravelInPieces) {
  const Uploaded uploaded = upload({.n = 641, .c = 1024, .layout = Layout::nhwc});
  EXPECT_EQ(uploaded.copies, 3);
  EXPECT_TRUE(alternates(uploaded, 1024));
}

TEST(OperationInstanceSamples, LargeOnesTravelByTheTwo) {
  const Uploaded uploaded = upload({.n = 3, .c = 300'000, .layout = Layout::nhwc});
  EXPECT_EQ(uploaded.copies, 2);
  EXPECT_TRUE(alternates(uploaded, 300'000));
}

TEST(OperationInstanceSamples, MayBeNone) {
  for (const TensorDesc& empty : {TensorDesc{.n = 0, .c = 7, .layout = Layout::nhwc},
                                  TensorDesc{.n = 3, .c = 0, .layout = Layout::nhwc}}) {
    const Uploaded uploaded = upload(empty);
    EXPECT_EQ(uploaded.copies, 0);
    EXPECT_TRUE(uploaded.values.empty());
  }
}

TEST(OperationInstanceSamples, BeginWithTheOneAskedFor) {
  const TensorDesc tensor{.n = 4, .c = 7, .layout = Layout::nhwc};
  const Uploaded from_first = upload(tensor);
  const Uploaded from_second = upload(tensor, 1);
  EXPECT_TRUE(std::equal(from_first.values.begin() + 7, from_first.values.end(), from_second.values.begin()));
  EXPECT_EQ(upload({.n = 1, .c = 7, .layout = Layout::nhwc}, 1).values,
            std::vector<float>(from_second.values.begin(), from_second.values.begin() + 7));
}

}  // namespace
}  // namespace bench::kernels
