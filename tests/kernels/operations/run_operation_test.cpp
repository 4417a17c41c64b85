// Proof that a wrong answer does not slip through the helpers of run_operation.h.
#include "run_operation.h"

#include <cmath>

#include "kernels/conv2d/conv2d.h"

namespace bench::kernels::testing {
namespace {

TEST(CloseTo, FindsOneWrongElement) {
  const Conv2d spec{
      .in_channels = 16, .height = 9, .width = 9, .out_channels = 16, .kernel_h = 3, .kernel_w = 3};
  const auto reference = make_operation(spec, cpu(), "reference");
  const Values expected = run_operation(*reference, inputs_for(*reference, Dtype::fp32));
  Values wrong = expected;
  EXPECT_TRUE(close_to(expected, wrong, 1e-5));
  wrong[Slot::dst][100] += 0.1F;
  EXPECT_FALSE(close_to(expected, wrong, 1e-5));
  wrong = expected;
  wrong[Slot::dst][7] = std::nanf("");
  EXPECT_FALSE(close_to(expected, wrong, 1e-2));
  EXPECT_FALSE(close_to(expected, Values{}, 1e-2));
}

TEST(CloseTo, FindsAKernelTransposed) {
  const Conv2d spec{
      .in_channels = 8, .height = 9, .width = 9, .out_channels = 8, .kernel_h = 3, .kernel_w = 3};
  const auto reference = make_operation(spec, cpu(), "reference");
  Values inputs = inputs_for(*reference, Dtype::fp32);
  const Values expected = run_operation(*reference, inputs);
  for (std::size_t i = 0; i + 1 < inputs[Slot::weights].size(); i += 2) {
    std::swap(inputs[Slot::weights][i], inputs[Slot::weights][i + 1]);
  }
  const auto onednn = make_operation(spec, cpu(), "onednn");
  EXPECT_FALSE(close_to(expected, run_operation(*onednn, inputs), 0.1));
}

}  // namespace
}  // namespace bench::kernels::testing
