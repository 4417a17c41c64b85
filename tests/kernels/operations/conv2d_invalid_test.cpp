// Descriptions of convolutions that cannot be computed, and what the messages say.
#include <gmock/gmock.h>

#include "kernels/operations/conv2d/conv2d.h"
#include "run_operation.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

TEST(Conv2dInvalid, NamesWhatIsWrong) {
  expect_words(Conv2d{.in_channels = 64, .out_channels = 63, .groups = 3}.invalid().value());
  expect_words(Conv2d{.in_channels = 6, .out_channels = 4, .groups = 3}.invalid().value());
  expect_words(Conv2d{.batch = 0}.invalid().value());
  expect_words(Conv2d{.pad_h = -1}.invalid().value());
  // One row short: integer division would make it one row of output.
  expect_words(
      Conv2d{.height = 2, .width = 3, .kernel_h = 3, .kernel_w = 3, .stride_h = 2}.invalid().value());
  expect_words(Conv2d{.direction = Conv2d::Direction::backward_data, .residual = true}.invalid().value());
  expect_words(Conv2d{.batch = 1 << 20, .in_channels = 1 << 20, .height = 1 << 20}.invalid().value());
  EXPECT_EQ((Conv2d{.batch = 1'000'000'000, .in_channels = 64, .height = 56, .width = 56}.invalid()),
            "--batch 1000000000 with --in-channels 64, --height 56 and --width 56 makes an input of "
            "200704000000000 elements; accepted are at most 2^40 = 1099511627776 in a tensor");
  expect_words(Conv2d{.batch = 1 << 20, .height = 3, .width = 4, .out_channels = 1 << 20}.invalid().value());
  expect_words(Conv2d{.in_channels = 1 << 16,
                      .height = 1024,
                      .width = 1024,
                      .out_channels = 1 << 16,
                      .kernel_h = 1024,
                      .kernel_w = 1024}
                   .invalid()
                   .value());
}

TEST(Conv2dUnsupported, SaysWhy) {
  for (const auto& [spec, reason] : {std::pair{Conv2d{.dtype = Dtype::fp16}, "no fp16"},
                                     {Conv2d{.dtype = Dtype::tf32}, "tf32"},
                                     {Conv2d{.groups = 2}, "groups 2"}}) {
    try {
      make_operation(spec, testing::cpu());
      ADD_FAILURE() << "made an operation that should be unsupported: " << reason;
    } catch (const Unsupported& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(reason));
    }
  }
}

}  // namespace
}  // namespace bench::kernels
