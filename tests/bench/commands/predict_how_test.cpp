#include "bench/commands/predict_how.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kPage =
    "# A page\n\n## First\n\n```\nx = y\n  + z\n```\n\n```\nother\n```\n\n## Second\n\nText.\n\n"
    "| what | `n` | how |\n| --- | --- | --- |\n| a long name of a row | 3 | well |\n| b | 10 |  |\n\n| c "
    "|\n";

TEST(PredictHow, FindsCodeAndTables) {
  EXPECT_THAT(formulas_below(kPage, "First"), ElementsAre("x = y", "  + z"));
  EXPECT_THAT(formulas_below(kPage, "Second"), IsEmpty());
  EXPECT_THAT(table_below(kPage, "Second", {0, 1, 2}).rows,
              ElementsAre(Cells{"what", "n", "how"}, Cells{"a long name of a row", "3", "well"},
                          Cells{"b", "10", ""}));
  EXPECT_THAT(table_below(kPage, "Second", {1, 2}).rows,
              ElementsAre(Cells{"n", "how"}, Cells{"3", "well"}, Cells{"10", ""}));
  EXPECT_THAT(table_below(kPage, "First", {0}).rows, IsEmpty());
  EXPECT_THAT(table_below(kPage, "Third", {0}).rows, IsEmpty());
}

// What `bench predict --how` prints is in the document.
TEST(PredictHow, TheDocumentHasThem) {
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "docs" / "predict-model.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(formulas_below(document, "A step's time"), Contains("step = (gpu^n + host^n)^(1/n)"));
  EXPECT_THAT(formulas_below(document, "Memory of training"), Contains(StartsWith("bytes(batch) = ")));
  EXPECT_THAT(table_below(document, "How far it errs", {0}).rows,
              Contains(Cells{"autocast inference, host unknown"}));
}

}  // namespace
}  // namespace bench
