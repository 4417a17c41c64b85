// The results that documents quote, of this version of the format and of the one before, can be compared.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "bench/compare/formats.h"
#include "bench/compare/judgement.h"
#include "bench/measure/result.h"
#include "tests/bench/support/schema.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

TEST(ReferenceResults, EveryVersionIsReadAndCompared) {
  std::set<std::string> schemas;
  for (const auto& entry : fs::recursive_directory_iterator(BENCH_TEST_SOURCE_DIR "/results/reference")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json" || name.starts_with("peers-") || name.starts_with("diagnosis-")) {
      continue;
    }
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string schema = Json::parse(text)["schema"];
    schemas.insert(schema);
    if (schema == kEarlierResultSchema) {
      EXPECT_EQ(schema_errors(text, kEarlierSchema), "") << entry.path();
    } else {
      EXPECT_EQ(schema_errors(text), "") << entry.path();
    }
    const ComparedRun run = read_runs({entry.path().string()}).front();
    ComparedRun again = run;
    again.identity = "another run";
    const Judgement judgement = judge(match_runs({run}, {again}, {}), {});
    EXPECT_EQ(judgement.compared(), run.points.size()) << entry.path();
    EXPECT_EQ(judgement.code, ExitCode::inconclusive) << "one run a side";
    EXPECT_EQ(schema_errors(as_json(judgement), kCompareSchema), "") << entry.path();
  }
  EXPECT_FALSE(schemas.empty());
}

}  // namespace
}  // namespace bench::testing
