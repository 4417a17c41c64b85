#include "bench/run/google_benchmark.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

const std::vector<std::string> kNames{"batch/resnet50/infer/fp32/batch:1",
                                      "batch/resnet50/infer/fp32/batch:16",
                                      "batch/resnet50/infer/bf16/batch:1"};

TEST(SelectByFilter, FindsTheExpressionAnywhereInTheName) {
  EXPECT_THAT(select_by_filter(kNames, "bf16"), ElementsAre(kNames[2]));
  EXPECT_THAT(select_by_filter(kNames, "batch:1$"), ElementsAre(kNames[0], kNames[2]));
  EXPECT_THAT(select_by_filter(kNames, ""), SizeIs(3));
  EXPECT_THAT(select_by_filter(kNames, "vgg"), SizeIs(0));
}

TEST(SelectByFilter, ALeadingMinusInverts) {
  EXPECT_THAT(select_by_filter(kNames, "-bf16"), ElementsAre(kNames[0], kNames[1]));
}

TEST(SelectByFilter, AMalformedExpressionIsTheUsersMistake) {
  try {
    select_by_filter(kNames, "batch:[");
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    expect_words(error.what());
  }
}

TEST(GoogleBenchmarkFlags, AnUnknownOneIsNamed) {
  EXPECT_THROW(initialize_google_benchmark({"--benchmark_nonsense=1"}), UsageError);
  EXPECT_NO_THROW(initialize_google_benchmark({"--benchmark_color=false"}));
}

ResultDocument two_rounds() {
  Point point;
  point.name = kNames[0];
  point.samples_ns = {1000, 3000, 5000};
  point.rounds = rounds_of({2, 1});
  point.rounds[0].cpu_time_ns = 7500;  // the second's is not known: a file of an earlier version
  point.items_per_step = 4;
  point.cpu_time_ns = 8000;
  ResultDocument document;
  document.points = {point};
  return document;
}

TEST(GoogleBenchmarkOutput, JsonHasOneRepetitionARound) {
  std::ostringstream out;
  write_google_benchmark(two_rounds(), "json", out);
  const auto json = nlohmann::json::parse(out.str());
  ASSERT_THAT(json["benchmarks"], SizeIs(2));
  const auto& first = json["benchmarks"][0];
  EXPECT_EQ(first["name"], kNames[0]);
  EXPECT_EQ(first["run_type"], "iteration");
  EXPECT_EQ(first["repetitions"], 2);
  EXPECT_EQ(first["repetition_index"], 0);
  EXPECT_EQ(first["iterations"], 2);
  EXPECT_NEAR(first["real_time"].get<double>(), 2000, 1e-6);
  EXPECT_NEAR(first["cpu_time"].get<double>(), 7500, 1e-6);
  EXPECT_NEAR(json["benchmarks"][1]["cpu_time"].get<double>(), 8000, 1e-6);
  EXPECT_NEAR(first["items_per_second"].get<double>(), 2e6, 1e-3);
  EXPECT_NEAR(json["benchmarks"][1]["real_time"].get<double>(), 5000, 1e-6);
}

TEST(GoogleBenchmarkOutput, CsvAndConsoleNameThePoint) {
  for (const char* const format : {"csv", "console"}) {
    std::ostringstream out;
    write_google_benchmark(two_rounds(), format, out);
    EXPECT_THAT(out.str(), ::testing::HasSubstr(kNames[0])) << format;
  }
}

}  // namespace
}  // namespace bench
