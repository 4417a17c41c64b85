#include "kernels/backends/onednn/onednn.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include <omp.h>

namespace bench::kernels::onednn {
namespace {

class QueryCacheTest : public ::testing::Test {
 protected:
  std::string ask(int question) {
    return known_.of(question, [&](int asked) {
      ++asked_;
      return std::to_string(asked);
    });
  }

  QueryCache<int, std::string> known_{2};
  int asked_ = 0;
};

TEST_F(QueryCacheTest, AsksOnce) {
  EXPECT_EQ(ask(7), "7");
  EXPECT_EQ(ask(7), "7");
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(ask(8), "8");
  EXPECT_EQ(ask(7), "7");
  EXPECT_EQ(asked_, 2);
}

TEST_F(QueryCacheTest, DropsTheLeastRecentlyUsed) {
  ask(1);
  ask(2);
  ask(1);
  ask(3);  // in the place of 2
  EXPECT_EQ(asked_, 3);
  ask(1);
  EXPECT_EQ(asked_, 3);
  ask(2);
  EXPECT_EQ(asked_, 4);
}

TEST_F(QueryCacheTest, IsClearedByItsOwnThreadAlone) {
  ask(1);
  std::thread(clear_query_caches).join();
  ask(1);
  EXPECT_EQ(asked_, 1);
  clear_query_caches();
  ask(1);
  EXPECT_EQ(asked_, 2);
}

TEST_F(QueryCacheTest, AsksAgainWithOtherThreads) {
  std::thread([&] {  // their number is each thread's own
    omp_set_num_threads(1);
    ask(1);
    omp_set_num_threads(2);
    ask(1);
    EXPECT_EQ(asked_, 2);
    omp_set_num_threads(1);
    ask(1);
    EXPECT_EQ(asked_, 2);
  })
      .join();
}

}  // namespace
}  // namespace bench::kernels::onednn
