// Locked and ordinary pages, the lock limit, NUMA nodes, and copies past the caches.
#include "kernels/devices/host/pages.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "bench/error.h"
#include "kernels/devices/cpu/transfers.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/sizes.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LockLimit, RefusesWithTheLimitAndHowToRaiseIt) {
  EXPECT_FALSE(refused_by({.bytes = 8 * kMiB, .locked = 0}, 8 * kMiB));
  EXPECT_FALSE(refused_by({.bytes = std::nullopt, .locked = 0}, 1000 * kMiB));
  const auto reason = refused_by({.bytes = 8 * kMiB, .locked = kMiB}, 8 * kMiB);
  ASSERT_TRUE(reason);
  expect_words(*reason);
}

TEST(LockLimit, TheCapabilityLiftsIt) {
  EXPECT_TRUE(may_lock_freely("Name:\tx\nCapPrm:\t0\nCapEff:\t0000000000004000\n"));
  EXPECT_TRUE(may_lock_freely("CapEff:\t000001ffffffffff\n"));
  EXPECT_FALSE(may_lock_freely("CapEff:\t0000000000000000\n"));
  EXPECT_FALSE(may_lock_freely("CapEff:\t000001ffffffbfff\n"));
  EXPECT_FALSE(may_lock_freely(""));
  EXPECT_FALSE(may_lock_freely("CapEff:"));
}

TEST(Nodes, AreReadAsTheKernelWritesThem) {
  EXPECT_THAT(nodes_in("0\n"), ElementsAre(0));
  EXPECT_THAT(nodes_in("0-2,4\n"), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(nodes_in(""), ElementsAre(0));
  EXPECT_THAT(nodes_from(1, {0, 1, 2}), ElementsAre(1, 0, 2));
  EXPECT_THAT(nodes_from(std::nullopt, {0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(nodes_from(7, {0, 1}), ElementsAre(0, 1));
  EXPECT_FALSE(no_such_node(0, {0}));
  expect_words(*no_such_node(1, {0}));
  expect_words(*no_such_node(2, {0, 1}));
}

TEST(HostPages, AreThereAndAreTheirsAlone) {
  const std::int64_t before = process_bytes();
  const auto pages = host_pages({.kind = HostKind::pageable, .bytes = 8 * kMiB + 1});
  EXPECT_EQ(pages->bytes(), 8 * kMiB + 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages->data()) % 4096, 0U);
  EXPECT_GE(process_bytes() - before, 8 * kMiB);  // touched, so they are taken
}

TEST(HostPages, LockedOnesCountAsLockedWhileTheyLive) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers make mlock do nothing";
#endif
  const std::int64_t before = lock_limit().locked;
  {
    const auto pages = host_pages({.kind = HostKind::pinned, .bytes = 16 * 1024});
    EXPECT_EQ(lock_limit().locked - before, 16 * 1024);
    pages->data()[0] = std::byte{1};
  }
  EXPECT_EQ(lock_limit().locked, before);
}

TEST(HostPages, MoreThanThereIsIsRefused) {
  EXPECT_THROW(host_pages({.kind = HostKind::pageable, .bytes = std::int64_t{1} << 45}), OutOfMemory);
  EXPECT_THROW(host_pages({.kind = HostKind::pageable, .bytes = kMiB, .node = 999}), Unsupported);
}

TEST(HostPages, OfANode) {
  const int node = online_nodes().front();
  try {
    const auto pages = host_pages({.kind = HostKind::pageable, .bytes = kMiB, .node = node});
    pages->data()[kMiB - 1] = std::byte{7};
    EXPECT_EQ(pages->data()[kMiB - 1], std::byte{7});
  } catch (const Unsupported& error) {  // containers may forbid the call
    EXPECT_THAT(error.what(), HasSubstr("mbind"));
  }
}

TEST(HostPages, RenewedOnesAreFresh) {
  const auto pages = host_pages({.kind = HostKind::pageable, .bytes = 4 * 4096});
  std::memset(pages->data(), 5, 4 * 4096);
  // Parts of a page stay.
  EXPECT_TRUE(renew_pages(pages->data() + 1, 3 * 4096));
  EXPECT_EQ(pages->data()[4095], std::byte{5});
  EXPECT_EQ(pages->data()[4096], std::byte{0});
  EXPECT_EQ(pages->data()[3 * 4096 - 1], std::byte{0});
  EXPECT_EQ(pages->data()[3 * 4096], std::byte{5});
  EXPECT_FALSE(renew_pages(pages->data(), 100));
}

TEST(CopyPastCaches, CopiesEveryByteAndNoOther) {
  for (const std::int64_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 1000, 4096, 70'001}) {
    for (const std::int64_t shift : {0, 1, 7, 32, 63}) {
      std::vector<std::byte> from(static_cast<std::size_t>(bytes + 200));
      for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<std::byte>(i * 31 + 7);
      }
      std::vector<std::byte> to(from.size(), std::byte{0xEE});
      std::vector<std::byte> expected = to;
      std::memcpy(expected.data() + shift, from.data() + 3, static_cast<std::size_t>(bytes));
      copy_past_caches(to.data() + shift, from.data() + 3, bytes);
      ASSERT_EQ(to, expected) << bytes << " shifted by " << shift;
      evict_lines(to.data() + shift, bytes);
      ASSERT_EQ(to, expected);
    }
  }
}

}  // namespace
}  // namespace bench::kernels
