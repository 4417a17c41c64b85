// The results that documents quote can be compared.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "bench/compare/formats.h"
#include "bench/compare/judgement.h"
#include "bench/result/result.h"
#include "tests/bench/support/schema.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

TEST(ReferenceResults, AreReadAndCompared) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(BENCH_TEST_SOURCE_DIR "/results/reference")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json" || name.starts_with("peers-") || name.starts_with("diagnosis-")) {
      continue;
    }
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(schema_errors(text), "") << entry.path();
    ++files;
    const ComparedRun run = read_runs({entry.path().string()}).front();
    ComparedRun again = run;
    again.identity = "another run";
    const Judgement judgement = judge(match_runs({run}, {again}, {}), {});
    EXPECT_EQ(judgement.compared(), run.points.size()) << entry.path();
    EXPECT_EQ(judgement.code, ExitCode::inconclusive) << "one run a side";
    EXPECT_EQ(schema_errors(as_json(judgement), kCompareSchema), "") << entry.path();
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace bench::testing
