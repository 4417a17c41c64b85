#include "bench/host/user_folders.h"

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(UserFolder, IsTheUsersOwn) {
  EXPECT_THAT(user_folder("/fast", "/home/me", ".cache"), Optional(Eq("/fast/bench")));
  EXPECT_THAT(user_folder(nullptr, "/home/me", ".local/share"), Optional(Eq("/home/me/.local/share/bench")));
}

// The standard says that a relative path is to be ignored.
TEST(UserFolder, IsNoneWithoutAnAbsolutePath) {
  EXPECT_THAT(user_folder("fast", "/home/me", ".cache"), Optional(Eq("/home/me/.cache/bench")));
  EXPECT_THAT(user_folder("", "/home/me", ".cache"), Optional(Eq("/home/me/.cache/bench")));
  EXPECT_EQ(user_folder(nullptr, nullptr, ".cache"), std::nullopt);
  EXPECT_EQ(user_folder("fast", "me", ".cache"), std::nullopt);
}

}  // namespace
}  // namespace bench
