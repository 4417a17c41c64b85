#include "bench/commands/predict_how.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPage =
    "# A page\n\n## First\n\n```\nx = y\n  + z\n```\n\n```\nother\n```\n\n## Second\n\nText.\n\n"
    "| what | `n` | how |\n| --- | --- | --- |\n| a long name of a row | 3 | well |\n| b | 10 |  |\n\n| c "
    "|\n";

TEST(PredictHow, FindsCodeAndTables) {
  EXPECT_EQ(code_below(kPage, "First"), "x = y\n  + z\n");
  EXPECT_EQ(code_below(kPage, "Second"), "");
  EXPECT_EQ(table_below(kPage, "Second", {0, 1, 2}, 80),
            "what                  n   how\na long name of a row  3   well\nb                     10\n");
  EXPECT_EQ(table_below(kPage, "Second", {1, 2}, 80), "n   how\n3   well\n10\n");
  EXPECT_EQ(table_below(kPage, "First", {0}, 80), "");
  EXPECT_EQ(table_below(kPage, "Third", {0}, 80), "");
}

TEST(PredictHow, WrapsTheFirstColumn) {
  EXPECT_EQ(table_below("## A\n\n| one two three four five six | 1 |\n", "A", {0, 1}, 23),
            "one two three four    1\nfive six\n");
}

// What `bench predict --how` prints is on the page.
TEST(PredictHow, ThePageHasThem) {
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "docs" / "predict-model.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(code_below(page, "A step's time"), HasSubstr("step = (gpu^n + host^n)^(1/n)"));
  EXPECT_THAT(code_below(page, "Memory of training"), HasSubstr("bytes(batch) = "));
  EXPECT_THAT(table_below(page, "How far it errs", {0, 1, 3}, 100),
              HasSubstr("autocast inference, host unknown"));
}

}  // namespace
}  // namespace bench
