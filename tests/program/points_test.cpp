// The points that sweeps list. Result files and scripts know them by name: a name that changes loses a
// history.
//
// tests/golden/points.txt holds command lines, each after "$ ", and behind each the points it lists. Which
// batches an open-ended series reaches follows from the memory plan, so this also notices plans that changed
// by much; they were recorded with the instruction set limited to AVX2, which this test asks for.
#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/program/process.h"

namespace bench::testing {
namespace {

struct Listing {
  std::string command;
  std::string points;  // a line each
};

std::vector<Listing> recorded_listings() {
  std::ifstream file(BENCH_TEST_SOURCE_DIR "/tests/golden/points.txt");
  std::vector<Listing> listings;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("$ ")) {
      listings.push_back({line.substr(2), {}});
    } else {
      listings.back().points += line + "\n";
    }
  }
  return listings;
}

TEST(Points, AreThoseRecorded) {
  ASSERT_EQ(setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1), 0);
  const std::vector<Listing> listings = recorded_listings();
  ASSERT_GT(listings.size(), 30U);
  for (const Listing& listing : listings) {
    std::istringstream words(listing.command + " --device cpu --benchmark_list_tests");
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) {
      arguments.push_back(word);
    }
    const Ended ended = run_bench(arguments);
    EXPECT_EQ(ended.code, 0) << listing.command << "\n" << ended.err;
    EXPECT_EQ(ended.out, listing.points) << listing.command;
  }
  unsetenv("ONEDNN_MAX_CPU_ISA");
}

}  // namespace
}  // namespace bench::testing
