#include "kernels/networks/program/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace bench::kernels {
namespace {

// No packing can go below the most bytes that live at the same time.
std::int64_t lower_bound(const std::vector<Lifetime>& lifetimes) {
  std::int64_t most = 0;
  for (const Lifetime& at : lifetimes) {
    std::int64_t live = 0;
    for (const Lifetime& other : lifetimes) {
      live += other.first <= at.first && at.first <= other.last ? aligned(other.bytes) : 0;
    }
    most = std::max(most, live);
  }
  return most;
}

void expect_sound(const std::vector<Lifetime>& lifetimes, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), lifetimes.size());
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    EXPECT_EQ(packing.offsets[i] % lifetimes[i].alignment, 0);
    EXPECT_LE(packing.offsets[i] + lifetimes[i].bytes, packing.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool together =
          lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
      const bool overlap = packing.offsets[i] < packing.offsets[j] + lifetimes[j].bytes &&
                           packing.offsets[j] < packing.offsets[i] + lifetimes[i].bytes;
      EXPECT_FALSE(together && overlap) << i << " and " << j;
    }
  }
  EXPECT_GE(packing.bytes, lower_bound(lifetimes));
}

TEST(Arena, NothingTakesNothing) {
  EXPECT_EQ(pack_arena({}).bytes, 0);
}

TEST(Arena, BuffersThatNeverMeetShareBytes) {
  const std::vector<Lifetime> chain{{640, 0, 1}, {64, 1, 2}, {640, 2, 3}, {64, 3, 4}};
  const Packing packing = pack_arena(chain);
  expect_sound(chain, packing);
  EXPECT_EQ(packing.bytes, 704);
  EXPECT_EQ(lower_bound(chain), 704);
}

TEST(Arena, ReadAndWrittenInOneStepDoNotShare) {
  const std::vector<Lifetime> pair{{64, 0, 1}, {64, 1, 2}};
  EXPECT_EQ(pack_arena(pair).bytes, 128);
}

TEST(Arena, SizesAreRoundedUp) {
  const std::vector<Lifetime> odd{{1, 0, 0}, {65, 0, 0}};
  const Packing packing = pack_arena(odd);
  expect_sound(odd, packing);
  EXPECT_EQ(packing.bytes, 64 + 128);
}

// 1600 B leave the next place at an odd multiple of 64.
TEST(Arena, ABufferThatAsksForMoreLiesOnItsOwnBoundary) {
  const std::vector<Lifetime> pair{{1600, 0, 1}, {640, 0, 0, 256}};
  const Packing packing = pack_arena(pair);
  expect_sound(pair, packing);
  EXPECT_EQ(packing.bytes, 1792 + 640);
}

// The second leaves a gap from 1600 to 2560, of which 768 B lie after a multiple of 256.
TEST(Arena, AGapCountsFromTheBoundaryOn) {
  std::vector<Lifetime> lifetimes{{1600, 0, 1}, {960, 0, 0}, {896, 0, 1}, {768, 1, 1, 256}};
  EXPECT_EQ(pack_arena(lifetimes).offsets[3], 1792);
  lifetimes[3].bytes = 832;
  const Packing packing = pack_arena(lifetimes);
  expect_sound(lifetimes, packing);
  EXPECT_EQ(packing.offsets[3], 3584);
}

TEST(Arena, RandomLifetimesAreSoundAndTight) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same cases every time
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 30; ++i) {
      const auto first = static_cast<std::int64_t>(random() % 40);
      lifetimes.push_back({static_cast<std::int64_t>(random() % 5000 + 1), first,
                           first + static_cast<std::int64_t>(random() % 6),
                           round % 2 == 1 && i % 4 == 0 ? 256 : kSlotAlignment});
    }
    const Packing packing = pack_arena(lifetimes);
    expect_sound(lifetimes, packing);
    EXPECT_LE(packing.bytes, 2 * lower_bound(lifetimes));
  }
}

// One buffer after the other into the tightest gap between all that live at the same time.
std::vector<std::int64_t> placed_one_by_one(const std::vector<Lifetime>& lifetimes,
                                            const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> offsets(lifetimes.size(), -1);
  for (const std::size_t i : order) {
    const Lifetime& wanted = lifetimes[i];
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (std::size_t j = 0; j < lifetimes.size(); ++j) {
      if (offsets[j] >= 0 && lifetimes[j].first <= wanted.last && wanted.first <= lifetimes[j].last) {
        taken.emplace_back(offsets[j], offsets[j] + aligned(lifetimes[j].bytes));
      }
    }
    std::ranges::sort(taken);
    std::int64_t reached = 0;
    std::int64_t tightest = -1;
    std::int64_t place = -1;
    for (const auto& [begin, end] : taken) {
      const bool fits = begin - aligned(reached, wanted.alignment) >= aligned(wanted.bytes);
      if (fits && (tightest < 0 || begin - reached < tightest)) {
        tightest = begin - reached;
        place = aligned(reached, wanted.alignment);
      }
      reached = std::max(reached, end);
    }
    offsets[i] = place >= 0 ? place : aligned(reached, wanted.alignment);
  }
  return offsets;
}

// So many that they are searched in groups.
TEST(Arena, ManyBuffersLieWhereOneByOneTheyWould) {
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same cases every time
  for (const int longest : {3, 1500}) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 1200; ++i) {
      const auto first = static_cast<std::int64_t>(random() % 1000);
      const auto steps = static_cast<std::int64_t>(random() % static_cast<unsigned>(longest));
      lifetimes.push_back({static_cast<std::int64_t>(random() % 3 == 0 ? random() % 5000 + 1 : 640), first,
                           first + steps, i % 7 == 0 ? 256 : kSlotAlignment});
    }
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lifetimes[i].first; });
    const std::vector<std::int64_t> earliest_first = placed_one_by_one(lifetimes, order);
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return lifetimes[i].bytes; });
    const std::vector<std::int64_t> largest_first = placed_one_by_one(lifetimes, order);
    const std::vector<std::int64_t> packed = pack_arena(lifetimes).offsets;
    EXPECT_TRUE(packed == earliest_first || packed == largest_first) << longest;
  }
}

}  // namespace
}  // namespace bench::kernels
