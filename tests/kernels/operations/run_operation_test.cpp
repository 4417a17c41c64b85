// Proof that a wrong answer does not slip through the helpers of run_operation.h.
#include "run_operation.h"

#include <cmath>

#include <gtest/gtest-spi.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/conv2d/conv2d.h"

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

// Copies src to dst, and does one thing more that an operation may not do.
class Careless final : public ReferenceOperation {
 public:
  enum class Mistake { none, writes_behind, fills_the_padding, changes_its_input };
  explicit Careless(Mistake mistake) : mistake_(mistake) {
    const TensorDesc tensor{.n = 1, .c = 5, .h = 2, .w = 2, .layout = Layout::nchw16c};
    add_activation(Slot::src, Role::input, tensor);
    add_activation(Slot::dst, Role::output, tensor);
  }
  void run(const SlotPointers& pointers) override {
    write(pointers, Slot::dst, read(pointers, Slot::src));
    auto* const src = static_cast<float*>(pointers[Slot::src]);
    auto* const dst = static_cast<float*>(pointers[Slot::dst]);
    constexpr std::int64_t kStored = 16 * 2 * 2;
    if (mistake_ == Mistake::writes_behind) {
      dst[kStored] = 1;
    } else if (mistake_ == Mistake::fills_the_padding) {
      dst[kStored - 1] = 1;
    } else if (mistake_ == Mistake::changes_its_input) {
      src[0] += 1;
    }
  }
  double flops() const override { return 0; }

 private:
  Mistake mistake_;
};

std::string failures_of(Careless::Mistake mistake) {
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    Careless operation(mistake);
    run_operation(operation, inputs_for(operation, Dtype::fp32));
  }
  std::string messages;
  for (int i = 0; i < results.size(); ++i) {
    messages += results.GetTestPartResult(i).message();
  }
  return messages;
}

TEST(RunOperation, FindsWritesOutsideOfTheOutputs) {
  using Mistake = Careless::Mistake;
  EXPECT_EQ(failures_of(Mistake::none), "");
  EXPECT_NE(failures_of(Mistake::writes_behind).find("dst: the operation wrote behind"), std::string::npos);
  EXPECT_NE(failures_of(Mistake::fills_the_padding).find("dst: its channel padding"), std::string::npos);
  EXPECT_NE(failures_of(Mistake::changes_its_input).find("src: the operation changed its input"),
            std::string::npos);
}

}  // namespace
}  // namespace bench::kernels::testing
