#include "bench/host/process_memory.h"

#include <new>
#include <stdexcept>
#include <system_error>
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

TEST(ProcessMemory, AFailureForWantOfItIsNamed) {
  EXPECT_EQ(failure_in_words(std::bad_alloc()), "the host's memory is full; give a smaller network or batch");
  const std::system_error no_thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EQ(failure_in_words(no_thread),
            "no thread can be started: the host's memory is full, or its limit of threads is reached");
  EXPECT_EQ(failure_in_words(std::runtime_error("a wire is cut")), "a wire is cut");
}

}  // namespace
}  // namespace bench
