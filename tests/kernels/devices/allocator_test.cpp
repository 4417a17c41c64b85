#include "kernels/devices/cuda/allocator.h"

#include <vector>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/kernels/devices/fake_runtime.h"
#include "tests/kernels/devices/sizes.h"

namespace bench::kernels::cuda {
namespace {

class AllocatorTest : public ::testing::Test {
 protected:
  testing::FakeRuntime runtime_;
  CachingAllocator allocator_{runtime_};
};

TEST_F(AllocatorTest, RoundsLargeBlocksToThePage) {
  allocator_.allocate(5 * kMiB);
  EXPECT_EQ(runtime_.reserved, 6 * kMiB);
}

TEST_F(AllocatorTest, TakesAWholeNumberOfPagesAsItIs) {
  allocator_.allocate(1 * kMiB);
  allocator_.allocate(4 * kMiB);
  EXPECT_EQ(runtime_.reserved, 6 * kMiB);
}

TEST_F(AllocatorTest, SmallBlocksShareASegmentAndNeverOverlap) {
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(allocator_.allocate(kMiB / 2 - 100));
  }
  EXPECT_EQ(runtime_.segments.size(), 1U);
  EXPECT_EQ(runtime_.reserved, 2 * kMiB);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks[i]) % 512, 0U);
    EXPECT_EQ(blocks[i], blocks[0] + i * kMiB / 2);
  }
  allocator_.allocate(1);
  EXPECT_EQ(runtime_.segments.size(), 2U);
}

TEST_F(AllocatorTest, HandsAFreedSegmentOutAgainWithoutTheDriver) {
  std::byte* const first = allocator_.allocate(16 * kMiB);
  allocator_.free(first);
  EXPECT_EQ(runtime_.reserved, 16 * kMiB);
  EXPECT_EQ(allocator_.allocate(15 * kMiB), first);  // 16 of the pages for 15: within an eighth
  EXPECT_EQ(runtime_.times("allocate"), 1);
  EXPECT_EQ(runtime_.times("free"), 0);
}

TEST_F(AllocatorTest, LendsAKeptSegmentOfWhateverSizeForAWhile) {
  EXPECT_EQ(allocator_.take_kept(kMiB), nullptr) << "the driver is not asked";
  std::byte* const kept = allocator_.allocate(16 * kMiB);
  EXPECT_EQ(allocator_.take_kept(kMiB), nullptr) << "it is in use";
  allocator_.free(kept);
  EXPECT_EQ(allocator_.take_kept(17 * kMiB), nullptr);
  EXPECT_EQ(allocator_.take_kept(kMiB), kept);
  EXPECT_EQ(allocator_.release_cached(), 0);
  allocator_.free(kept);
  EXPECT_EQ(allocator_.release_cached(), 16 * kMiB);
  EXPECT_EQ(runtime_.times("allocate"), 1);
}

TEST_F(AllocatorTest, DoesNotWasteALargeSegmentOnASmallerBlock) {
  allocator_.free(allocator_.allocate(16 * kMiB));
  allocator_.allocate(10 * kMiB);
  EXPECT_EQ(runtime_.times("allocate"), 2);
  EXPECT_EQ(runtime_.reserved, 26 * kMiB);
}

// 8/9 of a kept segment: 16 MiB of 18, but not 14 of 16.
TEST_F(AllocatorTest, AKeptSegmentServesABlockThatFillsEightNinthsOfIt) {
  std::byte* const kept = allocator_.allocate(18 * kMiB);
  allocator_.free(kept);
  EXPECT_EQ(allocator_.allocate(16 * kMiB), kept);
  allocator_.free(allocator_.allocate(16 * kMiB));
  allocator_.release_cached();
  std::byte* const smaller = allocator_.allocate(16 * kMiB);
  allocator_.free(smaller);
  EXPECT_NE(allocator_.allocate(14 * kMiB), smaller);
}

TEST_F(AllocatorTest, TakesTheSmallestSegmentThatFits) {
  std::byte* const larger = allocator_.allocate(18 * kMiB);
  std::byte* const smaller = allocator_.allocate(16 * kMiB);
  allocator_.free(larger);
  allocator_.free(smaller);
  EXPECT_EQ(allocator_.allocate(16 * kMiB), smaller);
}

TEST_F(AllocatorTest, FreedNeighboursBecomeOneBlockAgain) {
  std::byte* const a = allocator_.allocate(600 * kKiB);
  std::byte* const b = allocator_.allocate(600 * kKiB);
  std::byte* const c = allocator_.allocate(600 * kKiB);
  allocator_.free(a);
  allocator_.free(c);
  allocator_.release_cached();  // b is in use, so the segment stays
  EXPECT_EQ(runtime_.segments.size(), 1U);
  allocator_.free(b);
  EXPECT_EQ(allocator_.allocate(1000 * kKiB), a);  // larger than any of the three
  EXPECT_EQ(runtime_.segments.size(), 1U);
}

TEST_F(AllocatorTest, GivesBackOnlyWhatNothingUses) {
  std::byte* const used = allocator_.allocate(8 * kMiB);
  allocator_.free(allocator_.allocate(32 * kMiB));
  allocator_.free(allocator_.allocate(100));
  allocator_.release_cached();
  EXPECT_EQ(runtime_.reserved, 8 * kMiB);
  allocator_.free(used);
  allocator_.release_cached();
  EXPECT_EQ(runtime_.reserved, 0);
}

TEST_F(AllocatorTest, GivesBackWhatItKeepsBeforeItSaysThatThereIsNoMore) {
  runtime_.capacity = 100 * kMiB;
  allocator_.free(allocator_.allocate(60 * kMiB));
  EXPECT_NE(allocator_.allocate(90 * kMiB), nullptr);
  EXPECT_EQ(runtime_.reserved, 90 * kMiB);
  EXPECT_EQ(allocator_.allocate(20 * kMiB), nullptr);
  EXPECT_EQ(runtime_.last_error(), status::kSuccess) << "a later launch would be blamed for the refusal";
}

// The first refusal is dealt with: it must not stay set and be taken for the next launch's.
TEST_F(AllocatorTest, ARefusalThatASecondAttemptMadeGoodLeavesNoErrorBehind) {
  allocator_.free(allocator_.allocate(8 * kMiB));
  runtime_.fail("allocate", status::kMemoryAllocation);
  EXPECT_NE(allocator_.allocate(32 * kMiB), nullptr);
  EXPECT_EQ(runtime_.times("allocate"), 3);
  EXPECT_EQ(runtime_.last_error(), status::kSuccess);
}

TEST_F(AllocatorTest, RemembersTheMostThatItReserved) {
  std::byte* const larger = allocator_.allocate(20 * kMiB);
  allocator_.allocate(8 * kMiB);
  allocator_.free(larger);
  allocator_.release_cached();
  allocator_.allocate(10 * kMiB);
  EXPECT_EQ(allocator_.peak_reserved(), 28 * kMiB);
  allocator_.restart_peak();
  EXPECT_EQ(allocator_.peak_reserved(), 18 * kMiB);
}

TEST_F(AllocatorTest, AnotherErrorThanOutOfMemoryIsThrown) {
  runtime_.fail("allocate", status::kIllegalAddress);
  EXPECT_THROW(allocator_.allocate(1), DeviceLost);
  EXPECT_EQ(runtime_.reserved, 0);
}

TEST(Allocator, ReturnsEverySegmentWhenItEndsAlsoThoseInUse) {
  testing::FakeRuntime runtime;
  {
    CachingAllocator allocator(runtime);
    allocator.allocate(100);
    allocator.allocate(4 * kMiB);
    allocator.free(allocator.allocate(8 * kMiB));
  }
  EXPECT_TRUE(runtime.segments.empty());
}

TEST(Allocator, EndsQuietlyOnALostCard) {
  testing::FakeRuntime runtime;
  {
    CachingAllocator allocator(runtime);
    std::byte* const block = allocator.allocate(4 * kMiB);
    runtime.fail("free", status::kLaunchFailure);
    allocator.free(block);
    EXPECT_THROW(allocator.release_cached(), DeviceLost);
  }
  EXPECT_EQ(runtime.last_error(), status::kLaunchFailure);
}

}  // namespace
}  // namespace bench::kernels::cuda
