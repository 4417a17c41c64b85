#include "kernels/devices/cuda/cudnn_version.h"

#include <gtest/gtest.h>

namespace bench::kernels::cuda {
namespace {

constexpr CudnnVersion kWanted{.number = 91'900, .cuda = 13'000};

TEST(CudnnVersion, IsWrittenAsNvidiaDoes) {
  EXPECT_EQ(version_text({91'900, 13'000}), "9.19.0");
  EXPECT_EQ(version_text({90'101, 12'000}), "9.1.1");
  EXPECT_EQ(version_text({8907, 12'000}), "8.9.7");
}

TEST(CudnnVersion, AnyOfTheMajorVersionFrom92OnAndItsCudaIsTaken) {
  EXPECT_EQ(why_unfit({90'200, 13'020}, kWanted, "libcudnn.so.9"), "");
  EXPECT_EQ(why_unfit({92'800, 13'020}, kWanted, "libcudnn.so.9"), "");
}

// As PyTorch 2.4 to 2.6 bring it.
TEST(CudnnVersion, BeforePlansTellTheirWorkspaceItIsRefused) {
  constexpr CudnnVersion kWanted12{.number = 91'900, .cuda = 12'040};
  EXPECT_EQ(why_unfit({90'100, 12'040}, kWanted12, "/opt/libcudnn.so.9"),
            "/opt/libcudnn.so.9 is cuDNN 9.1.0, and this program needs 9.2 or later");
  EXPECT_NE(why_unfit({90'101, 12'040}, kWanted12, "libcudnn.so.9"), "");
}

TEST(CudnnVersion, CardsThatAreNotHereNeed98) {
  EXPECT_EQ(why_absent_unknown({90'701, 12'080}),
            "cuDNN 9.7.1 plans only for cards that are here; 9.8 or later plans for others");
  EXPECT_EQ(why_absent_unknown({90'800, 12'080}), "");
}

TEST(CudnnVersion, AnotherMajorVersionIsRefused) {
  EXPECT_EQ(why_unfit({8907, 12'000}, kWanted, "/opt/libcudnn.so.9"),
            "/opt/libcudnn.so.9 is cuDNN 8.9.7, and this program needs cuDNN 9");
  EXPECT_NE(why_unfit({100'000, 13'000}, kWanted, "libcudnn.so.9"), "");
}

TEST(CudnnVersion, AnotherCudaIsRefused) {
  EXPECT_EQ(why_unfit({91'900, 12'090}, kWanted, "/opt/libcudnn.so.9"),
            "/opt/libcudnn.so.9 is cuDNN 9.19.0 for CUDA 12, and this program needs one for CUDA 13");
}

}  // namespace
}  // namespace bench::kernels::cuda
