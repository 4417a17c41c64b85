#include "sweeps/transfer/concurrent_runner.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace bench::sweeps {
namespace {

TEST(ConcurrentRunner, RunsBothEachTimeAndPassesOnWhatEitherThrows) {
  int other = 0;
  bool throws = false;
  ConcurrentRunner runner(steady_clock(), [&] {
    ++other;
    if (throws) {
      throw std::runtime_error("the other");
    }
  });
  int own = 0;
  for (int i = 1; i <= 100; ++i) {
    EXPECT_GT(runner.run([&] { ++own; }), 0);
    ASSERT_EQ(other, i);
    ASSERT_EQ(own, i);
  }
  throws = true;
  EXPECT_THROW(runner.run([] {}), std::runtime_error);
  throws = false;
  EXPECT_THROW(runner.run([] { throw std::logic_error("own"); }), std::logic_error);
  runner.run([&] { ++own; });
  EXPECT_EQ(own, 101);
}

}  // namespace
}  // namespace bench::sweeps
