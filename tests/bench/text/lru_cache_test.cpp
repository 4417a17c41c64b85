#include "bench/text/lru_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

TEST(LruCache, MakesAValueOnceAndDropsTheOneUsedLongestAgo) {
  LruCache<std::string, int> cache(2);
  int made = 0;
  const auto make = [&] { return ++made; };
  EXPECT_EQ(cache.get("a", make), 1);
  EXPECT_EQ(cache.get("b", make), 2);
  EXPECT_EQ(cache.get("a", make), 1);
  EXPECT_EQ(cache.get("c", make), 3);  // b makes room
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.get("a", make), 1);
  EXPECT_EQ(cache.get("b", make), 4);
  cache.clear();
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace bench
