#include "bench/host/cache_folder.h"

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(CacheFolder, IsTheUsersOwn) {
  EXPECT_THAT(cache_folder("/fast", "/home/me"), Optional(Eq("/fast/bench")));
  EXPECT_THAT(cache_folder(nullptr, "/home/me"), Optional(Eq("/home/me/.cache/bench")));
}

// The standard says that a relative path is to be ignored.
TEST(CacheFolder, IsNoneWithoutAnAbsolutePath) {
  EXPECT_THAT(cache_folder("fast", "/home/me"), Optional(Eq("/home/me/.cache/bench")));
  EXPECT_THAT(cache_folder("", "/home/me"), Optional(Eq("/home/me/.cache/bench")));
  EXPECT_EQ(cache_folder(nullptr, nullptr), std::nullopt);
  EXPECT_EQ(cache_folder("fast", "me"), std::nullopt);
}

}  // namespace
}  // namespace bench
