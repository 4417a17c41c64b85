// Descriptions of convolutions that cannot be computed, and what the messages say.
#include <gmock/gmock.h>

#include "kernels/operations/conv2d/conv2d.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

TEST(Conv2dInvalid, NamesWhatIsWrong) {
  using ::testing::HasSubstr;
  using ::testing::Optional;
  EXPECT_THAT((Conv2d{.in_channels = 64, .out_channels = 63, .groups = 3}.invalid()),
              Optional(HasSubstr("groups 3 does not divide in_channels 64")));
  EXPECT_THAT((Conv2d{.in_channels = 6, .out_channels = 4, .groups = 3}.invalid()),
              Optional(HasSubstr("groups 3 does not divide out_channels 4")));
  EXPECT_THAT((Conv2d{.batch = 0}.invalid()), Optional(HasSubstr("batch is 0")));
  EXPECT_THAT((Conv2d{.pad_h = -1}.invalid()), Optional(HasSubstr("pad_h is -1")));
  // One row short: integer division would make it one row of output.
  EXPECT_THAT((Conv2d{.height = 2, .width = 3, .kernel_h = 3, .kernel_w = 3, .stride_h = 2}.invalid()),
              Optional(HasSubstr("does not fit")));
  EXPECT_THAT((Conv2d{.direction = Conv2d::Direction::backward_data, .residual = true}.invalid()),
              Optional(HasSubstr("forward")));
  EXPECT_THAT((Conv2d{.batch = 1 << 20, .in_channels = 1 << 20, .height = 1 << 20}.invalid()),
              Optional(HasSubstr("2^40")));
  EXPECT_EQ((Conv2d{.batch = 1'000'000'000, .in_channels = 64, .height = 56, .width = 56}.invalid()),
            "--batch 1000000000 with --in-channels 64, --height 56 and --width 56 makes an input of "
            "200704000000000 elements; accepted are at most 2^40 = 1099511627776 in a tensor");
  EXPECT_THAT((Conv2d{.batch = 1 << 20, .height = 3, .width = 4, .out_channels = 1 << 20}.invalid()),
              Optional(HasSubstr("--out-channels 1048576, --height 3 and --width 4 makes an output (3x4")));
  EXPECT_THAT((Conv2d{.in_channels = 1 << 16,
                      .height = 1024,
                      .width = 1024,
                      .out_channels = 1 << 16,
                      .kernel_h = 1024,
                      .kernel_w = 1024}
                   .invalid()),
              Optional(HasSubstr("--kernel 1024 with --in-channels 65536")));
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
