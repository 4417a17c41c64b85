#include "bench/host/user_folders.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(UserFolder, IsTheUsersOwn) {
  const testing::TemporaryFolder home;
  const std::string fast = home.path() / "fast";  // is made when it is needed
  EXPECT_THAT(user_folder(fast.c_str(), home.path().c_str(), ".cache"),
              Optional(Eq(home.path() / "fast/bench")));
  EXPECT_THAT(user_folder(nullptr, home.path().c_str(), ".local/share"),
              Optional(Eq(home.path() / ".local/share/bench")));
}

// The standard says that a relative path is to be ignored.
TEST(UserFolder, IsNoneWithoutAnAbsolutePath) {
  const testing::TemporaryFolder home;
  for (const char* const xdg : {"fast", ""}) {
    EXPECT_THAT(user_folder(xdg, home.path().c_str(), ".cache"), Optional(Eq(home.path() / ".cache/bench")));
  }
  EXPECT_EQ(user_folder(nullptr, nullptr, ".cache"), std::nullopt);
  EXPECT_EQ(user_folder("fast", "me", ".cache"), std::nullopt);
}

TEST(UserFolder, IsNoneWhereTheHomeIsAbsentOrCannotBeWritten) {
  const testing::TemporaryFolder folder;
  const std::string absent = folder.path() / "absent";
  EXPECT_EQ(user_folder(nullptr, absent.c_str(), ".cache"), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(absent));
  // No user makes folders there, root neither.
  EXPECT_EQ(user_folder(nullptr, "/proc/self", ".cache"), std::nullopt);
  EXPECT_EQ(user_folder("/proc/self/cache", folder.path().c_str(), ".cache"), std::nullopt);
}

}  // namespace
}  // namespace bench
