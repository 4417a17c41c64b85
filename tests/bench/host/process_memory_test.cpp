#include "bench/host/process_memory.h"

#include <vector>

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(ProcessMemory, IsItsOwnAndItsPartOfWhatIsShared) {
  EXPECT_EQ(own_memory_in("5581-7ffc ---p 0 [rollup]\nRss:  900 kB\nPss_Anon:   112 kB\nPss_File:  182 kB\n"
                          "Pss_Shmem:   8 kB\n"),
            120 * 1024);
  EXPECT_EQ(own_memory_in("Rss:  900 kB\nPss_Anon:   112 kB\n"), std::nullopt) << "an older kernel";
  EXPECT_EQ(own_memory_in(""), std::nullopt);
}

TEST(ProcessMemory, GrowsWithWhatIsWritten) {
  const auto before = own_memory_bytes();
  if (!before) {
    GTEST_SKIP() << "this system does not tell";
  }
  const std::vector<char> written(std::size_t{64} << 20, 'x');
  EXPECT_GE(own_memory_bytes().value() - *before, std::int64_t{60} << 20) << written.size();
}

}  // namespace
}  // namespace bench
