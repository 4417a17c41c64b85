#include "bench/host/shared_library.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CachedPaths, AreThoseWhoseLastPartIsTheWholeName) {
  constexpr char kBytes[] =
      "header\0libcudnn.so.9\0/opt/a/libcudnn.so.9\0/opt/b/libcudnn.so.90\0"
      "/opt/c/my-libcudnn.so.9\0/opt/d/libcudnn.so.9\0";
  const std::string cache(kBytes, sizeof(kBytes) - 1);
  EXPECT_THAT(cached_paths(cache, "libcudnn.so.9"),
              ElementsAre("/opt/a/libcudnn.so.9", "/opt/d/libcudnn.so.9"));
  EXPECT_THAT(cached_paths(cache, "libnccl.so.2"), IsEmpty());
  EXPECT_THAT(cached_paths("/opt/a/libcudnn.so.9", "libcudnn.so.9"), IsEmpty()) << "cut off within the path";
}

TEST(CachedPaths, OfThisSystemNameItsCLibrary) {
  const std::string cache = bytes_of("/etc/ld.so.cache");
  if (cache.empty()) {
    GTEST_SKIP() << "this system has no cache of libraries";
  }
  const fs::path loaded = SharedLibrary("libc.so.6").path();
  const auto paths = cached_paths(cache, "libc.so.6");
  EXPECT_TRUE(std::ranges::any_of(paths, [&](const fs::path& path) { return fs::equivalent(path, loaded); }));
}

TEST(SharedLibrary, ThatIsCutShortIsNotOpened) {
  const testing::TemporaryFolder folder;
  const std::string whole = bytes_of(SharedLibrary("libm.so.6").path());
  ASSERT_GT(whole.size(), 8192U);
  const fs::path path = folder.path() / "libm.so.6";
  std::ofstream(path, std::ios::binary).write(whole.data(), 8192);
  const SharedLibrary library(path.string());
  EXPECT_FALSE(library);
  EXPECT_EQ(library.why_missing(), path.string() + ": the file is cut short; install it again");
}

}  // namespace
}  // namespace bench
