#include "bench/cli/option.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Option, ItsValueIsOneOfItsWordsOrLikeItsDefault) {
  EXPECT_EQ(value_name({.name = "height", .default_value = "56", .help = ""}), "N");
  EXPECT_EQ(value_name({.name = "bytes", .default_value = "1MiB", .help = ""}), "SIZE");
  EXPECT_EQ(value_name({.name = "in-flight", .default_value = "1,8", .help = ""}), "LIST");
  EXPECT_EQ(value_name({.name = "profile", .default_value = "none", .help = ""}), "VALUE");
  EXPECT_EQ(value_name({.name = "launch",
                        .default_value = "stream",
                        .help = "",
                        .words =
                            [] {
                              return std::vector<std::string>{"stream", "graph"};
                            }}),
            "stream|graph");
}

}  // namespace
}  // namespace bench
