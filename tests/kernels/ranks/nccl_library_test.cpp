// NCCL itself, as far as it goes without a card.
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "bench/ranks.h"
#include "kernels/devices/cuda/errors.h"
#include "kernels/devices/cuda/runtime.h"
#include "kernels/ranks/nccl/communicator.h"
#include "kernels/ranks/nccl/nccl.h"

namespace bench::kernels::nccl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(NcclLibrary, TellsItsVersionAndMakesIdsWithoutACard) {
  std::string why_missing;
  Nccl* const nccl = opened_nccl(why_missing);
  ASSERT_NE(nccl, nullptr) << why_missing;
  int version = 0;
  EXPECT_EQ(nccl->version(version), result::kSuccess);
  EXPECT_THAT(version_text(version), StartsWith("2."));
  UniqueId first{};
  UniqueId second{};
  ASSERT_EQ(nccl->unique_id(first), result::kSuccess) << nccl->last_error();
  ASSERT_EQ(nccl->unique_id(second), result::kSuccess);
  EXPECT_NE(first, second);
}

TEST(NcclLibrary, WithoutACardACommunicatorFailsInASentence) {
  int cards = 0;
  if (cuda::cuda_runtime().device_count(cards) == cuda::status::kSuccess && cards > 0) {
    GTEST_SKIP() << "there is a card";
  }
  std::string why_missing;
  Nccl* const nccl = opened_nccl(why_missing);
  ASSERT_NE(nccl, nullptr) << why_missing;
  UniqueId id{};
  ASSERT_EQ(nccl->unique_id(id), result::kSuccess);
  Communicator communicator(*nccl);
  try {
    communicator.init(1, id, 0);
    ADD_FAILURE() << "it was connected";
  } catch (const RanksLost& error) {
    EXPECT_THAT(error.what(), HasSubstr("ncclCommInitRank failed: 1 (unhandled cuda error"));
  }
}

}  // namespace
}  // namespace bench::kernels::nccl
