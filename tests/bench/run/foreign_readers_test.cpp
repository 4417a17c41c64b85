// A result file has every field that google/benchmark's compare.py and github-action-benchmark (googlecpp)
// read, with the type that they take it for.
#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "bench/result/result.h"
#include "bench/run/google_benchmark.h"
#include "tests/bench/support/sample_document.h"

namespace bench {
namespace {

enum class Kind { text, number, integer, boolean, list };

bool is_of(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::text:
      return value.is_string();
    case Kind::number:
      return value.is_number();
    case Kind::integer:
      return value.is_number_integer();
    case Kind::boolean:
      return value.is_boolean();
    case Kind::list:
      return value.is_array();
  }
  return false;
}

using Fields = std::vector<std::pair<std::string, Kind>>;

void expect_fields(const Json& object, const Fields& fields) {
  for (const auto& [name, kind] : fields) {
    ASSERT_TRUE(object.contains(name)) << name;
    EXPECT_TRUE(is_of(object[name], kind)) << name << " is " << object[name];
  }
}

std::vector<Json> result_files() {
  std::ifstream golden(BENCH_TEST_SOURCE_DIR "/tests/bench/run/golden/bench-result-2.json");
  return {to_json(testing::sample_document()), Json::parse(golden)};
}

// src/extract.ts: GoogleCppBenchmarkJson. Its value is real_time, its unit time_unit + "/iter", and the rest
// is shown.
TEST(ForeignReaders, GithubActionBenchmark) {
  for (const Json& file : result_files()) {
    expect_fields(file["context"], {{"date", Kind::text},
                                    {"host_name", Kind::text},
                                    {"executable", Kind::text},
                                    {"num_cpus", Kind::integer},
                                    {"mhz_per_cpu", Kind::number},
                                    {"cpu_scaling_enabled", Kind::boolean},
                                    {"caches", Kind::list},
                                    {"load_avg", Kind::list},
                                    {"library_build_type", Kind::text}});
    ASSERT_FALSE(file["benchmarks"].empty());
    for (const Json& benchmark : file["benchmarks"]) {
      expect_fields(benchmark, {{"name", Kind::text},
                                {"run_name", Kind::text},
                                {"run_type", Kind::text},
                                {"repetitions", Kind::integer},
                                {"repetition_index", Kind::integer},
                                {"threads", Kind::integer},
                                {"iterations", Kind::integer},
                                {"real_time", Kind::number},
                                {"cpu_time", Kind::number},
                                {"time_unit", Kind::text}});
    }
  }
}

// tools/gbench: util.py refuses a json_schema_version other than 1 and sorts by the indices; report.py pairs
// by name and divides real_time and cpu_time of one time_unit; several entries of a name are repetitions, and
// one that is an aggregate or has an error is treated otherwise.
TEST(ForeignReaders, GoogleBenchmarksCompare) {
  for (const Json& file : result_files()) {
    EXPECT_FALSE(file["context"].contains("json_schema_version"));
    std::set<std::string> names;
    for (const Json& benchmark : file["benchmarks"]) {
      expect_fields(benchmark,
                    {{"family_index", Kind::integer}, {"per_family_instance_index", Kind::integer}});
      EXPECT_EQ(benchmark["run_type"], "iteration");
      EXPECT_TRUE(names.insert(benchmark["name"].get<std::string>()).second) << "one entry a point";
      constexpr std::array<std::string_view, 4> kUnits{"s", "ms", "us", "ns"};
      EXPECT_THAT(kUnits, ::testing::Contains(benchmark["time_unit"].get<std::string>()));
      EXPECT_GT(benchmark["real_time"], 0);
      EXPECT_FALSE(benchmark.contains("error_occurred"));
    }
  }
}

// What --benchmark_out writes: compare.py's U test takes the entries of a name for independent repetitions,
// of real_time and of cpu_time, and calls nine enough.
TEST(ForeignReaders, GoogleBenchmarksUTest) {
  constexpr std::int64_t kRounds = 9;
  ResultDocument document = testing::sample_document();
  document.points.resize(1);
  Point& point = document.points.front();
  point.rounds.clear();
  point.samples_ns.clear();
  for (std::int64_t round = 0; round < kRounds; ++round) {
    point.samples_ns.push_back(1'000'000 + 1000 * round);
    point.rounds.push_back({.samples = 1, .cpu_time_ns = 2e6 + 1000.0 * static_cast<double>(round)});
  }
  std::ostringstream out;
  write_google_benchmark(document, "json", out);
  const Json file = Json::parse(out.str());
  ASSERT_EQ(file["benchmarks"].size(), kRounds);
  std::set<double> real_times;
  std::set<double> cpu_times;
  for (const Json& benchmark : file["benchmarks"]) {
    expect_fields(benchmark, {{"name", Kind::text},
                              {"time_unit", Kind::text},
                              {"real_time", Kind::number},
                              {"cpu_time", Kind::number},
                              {"repetition_index", Kind::integer},
                              {"family_index", Kind::integer},
                              {"per_family_instance_index", Kind::integer}});
    EXPECT_EQ(benchmark["name"], point.name);
    EXPECT_EQ(benchmark["run_type"], "iteration");
    EXPECT_EQ(benchmark["repetitions"], kRounds);
    EXPECT_EQ(benchmark["time_unit"], file["benchmarks"][0]["time_unit"]);
    real_times.insert(benchmark["real_time"].get<double>());
    cpu_times.insert(benchmark["cpu_time"].get<double>());
  }
  EXPECT_EQ(real_times.size(), kRounds);
  EXPECT_EQ(cpu_times.size(), kRounds) << "each round has its own";
}

}  // namespace
}  // namespace bench
