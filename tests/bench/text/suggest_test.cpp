#include "bench/text/suggest.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Suggest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("resnet50", "resnet5"), 1U);
  EXPECT_EQ(edit_distance("trian", "train"), 1U) << "neighbours swapped are one slip";
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);
}

TEST(Suggest, NearestOnlyWhereItIsNear) {
  const std::vector<std::string> names{"conv2d", "mobilenet_v2", "resnet50"};
  EXPECT_EQ(nearest("mobilnet", names), "mobilenet_v2");
  EXPECT_EQ(nearest("conv", names), "conv2d");
  EXPECT_EQ(nearest("gemm", names), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

TEST(Suggest, ANumberIsMeantForANameThatHasIt) {
  const std::vector<std::string> names{"fp16", "int8", "int4", "mxfp4", "q6_k", "fp8"};
  for (const char* const given : {"4", "q4", "4bit", "4-bit"}) {
    EXPECT_EQ(did_you_mean(given, names), " (did you mean int4 or mxfp4?)") << given;
  }
  EXPECT_EQ(did_you_mean("32", names), "");
  EXPECT_EQ(did_you_mean("best4", {"int4"}), "") << "another name";
}

TEST(Suggest, Message) {
  EXPECT_EQ(unknown_value("--sweep", "bath", {"batch", "kernels"}),
            "--sweep: 'bath' is not known; accepted: batch, kernels (did you mean batch?)");
  EXPECT_EQ(unknown_value("--sweep", "zzz", {"batch", "kernels"}),
            "--sweep: 'zzz' is not known; accepted: batch, kernels");
  EXPECT_EQ(
      unknown_value("--link", "nvlink5", {"nvlink3", "nvlink2", "pcie5", "nvlink4"}),
      "--link: 'nvlink5' is not known; accepted: nvlink3, nvlink2, pcie5, nvlink4 (did you mean nvlink3 or "
      "nvlink2 or nvlink4?)");
}

}  // namespace
}  // namespace bench
