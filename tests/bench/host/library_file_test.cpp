#include "bench/host/library_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>

#include "bench/host/shared_library.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::IsEmpty;

TEST(LibraryFile, IsWholeToItsLastByte) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() / "libm.so.6";
  fs::copy_file(SharedLibrary("libm.so.6").path(), path);
  const auto size = fs::file_size(path);
  EXPECT_EQ(file_state(path), FileState::whole);
  EXPECT_THAT(needed_libraries(path), Contains("libc.so.6"));
  for (const auto left : {size - 1, size / 2, std::uintmax_t{4096}, std::uintmax_t{64}, std::uintmax_t{10}}) {
    fs::resize_file(path, left);
    EXPECT_EQ(file_state(path), FileState::cut_short) << left;
    EXPECT_THAT(needed_libraries(path), IsEmpty());
  }
}

TEST(LibraryFile, IsForeignWithoutAnElfHeader) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() / "libm.so.6";
  for (const char* const text : {"", "<html>not found</html>"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(file_state(path), FileState::foreign);
  }
  EXPECT_EQ(file_state(folder.path()), FileState::foreign) << "a folder";
  errno = 0;
  EXPECT_EQ(file_state(folder.path() / "absent"), FileState::unreadable);
  EXPECT_EQ(errno, ENOENT);
}

// Offsets and lengths of damaged headers lead nowhere.
TEST(LibraryFile, OfDamagedHeadersIsReadWithinTheFile) {
  const testing::TemporaryFolder folder;
  std::ifstream file(SharedLibrary("libm.so.6").path(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const std::string path = folder.path() / "libm.so.6";
  constexpr std::size_t kHeaders = 0x400;
  for (std::size_t at = 4; at < kHeaders; at += 3) {
    std::string damaged = whole;
    damaged.replace(at, 8, 8, static_cast<char>(0xff));
    std::ofstream(path, std::ios::binary) << damaged;
    needed_libraries(path);  // no sanitizer complains
  }
}

}  // namespace
}  // namespace bench
