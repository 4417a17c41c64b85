// `bench compare` as a user runs it: exit codes, formats that other programs read, and files that are wrong.
#include <cmath>
#include <cstdint>
#include <filesystem>

#include <gmock/gmock.h>

#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "bench/stats/statistics.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Five points of three samples, with 0.1 % of noise; the third takes `factor` times as long.
ResultDocument made_document(const std::string& id, int run, double factor) {
  ResultDocument document = sample_document();
  document.context.run_id = id;
  document.points.clear();
  document.unmeasured.clear();
  document.findings.clear();
  for (int point = 0; point < 5; ++point) {
    Point measured = sample_point(point + 1, 10'000'000);
    const double level = (point == 2 ? factor : 1) * (1 + 0.0005 * ((run * 7 + point * 3) % 5));
    measured.samples_ns.assign(6, static_cast<std::int64_t>(1e7 * (point + 1) * level));
    measured.rounds = rounds_of({2, 2, 2});
    measured.stats = {};
    measured.stats.median_ns = static_cast<double>(measured.samples_ns.front());
    measured.stats.p05_ns = measured.stats.median_ns;
    measured.stats.p95_ns = measured.stats.median_ns;
    measured.stats.rounds = 3;
    measured.validity.flags.clear();
    document.points.push_back(measured);
  }
  return document;
}

// Paths of `count` runs of a side.
Arguments made_runs(const TemporaryFolder& folder, const std::string& side, int count = 5,
                    double factor = 1) {
  Arguments files;
  for (int run = 0; run < count; ++run) {
    const std::string id = side + std::to_string(run);
    files.push_back(folder.path() / (id + ".json"));
    write_file(files.back(), to_text(to_json(made_document(id, run, factor))));
  }
  return files;
}

Ended compared(const Arguments& base, const Arguments& next, const Arguments& options = {}) {
  return run_bench(Arguments{"compare"} + options + base + Arguments{"--"} + next);
}

TEST(CompareProgram, ExitCodes) {
  const TemporaryFolder folder;
  const Arguments base = made_runs(folder, "a");
  const Arguments same = made_runs(folder, "b");
  const Arguments slower = made_runs(folder, "c", 5, 1.1);
  const Ended none = compared(base, same);
  EXPECT_EQ(none.code, 0) << none.out << none.err;
  EXPECT_EQ(none.err, "");
  EXPECT_EQ(compared(base, slower).code, 1);
  EXPECT_EQ(compared(slower, base).code, 0) << "faster never fails";
  EXPECT_EQ(compared(base, slower, {"--threshold", "20%"}).code, 0);
  EXPECT_EQ(compared({base.front()}, {same.front()}).code, 3);
  EXPECT_EQ(compared({base.front()}, {same.front()}, {"--allow-inconclusive"}).code, 0);
  EXPECT_EQ(compared({base.front()}, {base.front()}).code, 4);
  ResultDocument other = made_document("other", 0, 1);
  other.context.device.name = "Other CPU";
  const std::string path = folder.path() / "other.json";
  write_file(path, to_text(to_json(other)));
  const Ended refused = compared(base, {path});
  EXPECT_EQ(refused.code, 4);
  EXPECT_NE(compared(base, {path}, {"--allow-different", "device"}).code, 4);
}

TEST(CompareProgram, OptionsMayComeLast) {
  const TemporaryFolder folder;
  const Ended json = compared(made_runs(folder, "a"), made_runs(folder, "b") + Arguments{"--format", "json"});
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(Json::parse(json.out)["exit_code"], 0);
  EXPECT_EQ(schema_errors(json.out, kCompareSchema), "");
}

TEST(CompareProgram, OneRunOfOneRoundIsOneSentence) {
  const TemporaryFolder folder;
  const Arguments base = made_runs(folder, "a", 1);
  ResultDocument document = made_document("b", 0, 1.5);
  for (Point& point : document.points) {
    point.samples_ns.resize(1);
    point.rounds = rounds_of({1});
    point.stats.rounds = 1;
  }
  const std::string path = folder.path() / "b.json";
  write_file(path, to_text(to_json(document)));
  for (const std::string format : {"table", "markdown", "junit", "github", "json"}) {
    const Ended ended = compared(base, {path}, {"--format", format});
    EXPECT_EQ(ended.code, 4) << format << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("NEW has one run and one round of it")) << format;
    EXPECT_EQ(ended.err, "") << format;
  }
  EXPECT_EQ(compared(base, {path}, {"--allow-inconclusive"}).code, 0);
}

// Two copies of a run under other names.
TEST(CompareProgram, TheSameRunTwiceCountsOnce) {
  const TemporaryFolder folder;
  const Arguments base = made_runs(folder, "a");
  const std::string copy = folder.path() / "copy.json";
  fs::copy_file(base.front(), copy);
  const Arguments next = made_runs(folder, "b");
  for (const std::string format : {"table", "markdown", "junit", "github", "json"}) {
    const Ended ended = compared(base + Arguments{copy}, next, {"--format", format});
    EXPECT_EQ(ended.code, 0) << format << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("is the same run as")) << format;
    if (format == "json") {
      EXPECT_EQ(Json::parse(ended.out).at("suites").at(0).at("base_runs"), 5);
    }
  }
}

// A run of each of several machines in the folder, each a tenth slower than the one before; `factors` by
// machine.
void write_fleet(const fs::path& folder, const std::vector<double>& factors) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::string host = "node" + std::to_string(i + 1);
    ResultDocument document = made_document((folder / host).string(), static_cast<int>(i), 1);
    document.context.machine = "id of " + host;
    document.context.google_benchmark["host_name"] = host;
    for (Point& point : document.points) {
      const double factor = (1 + 0.1 * static_cast<double>(i)) * factors[i];
      const auto sample = static_cast<std::int64_t>(static_cast<double>(point.samples_ns.front()) * factor);
      point.samples_ns.assign(point.samples_ns.size(), sample);
      point.stats.median_ns = static_cast<double>(sample);
      point.stats.p05_ns = point.stats.median_ns;
      point.stats.p95_ns = point.stats.median_ns;
    }
    write_file(folder / (host + ".json"), to_text(to_json(document)));
  }
}

TEST(CompareProgram, TheMachinesOfAFleetAreEachComparedWithThemselves) {
  const TemporaryFolder folder;
  const std::string base = folder.path() / "base";
  const std::string next = folder.path() / "new";
  write_fleet(base, std::vector<double>(8, 1));
  write_fleet(next, {1.05, 1.05, 1.05, 1.05, 1.15, 1.05, 1.05, 1.05});
  const Ended slower = compared({base}, {next});
  EXPECT_EQ(slower.code, 1) << slower.out << slower.err;
  expect_words(slower.out);
  write_fleet(next, std::vector<double>(9, 1));
  fs::remove(next + "/node1.json");
  const Ended same = compared({base}, {next});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  expect_words(same.out);
}

TEST(CompareProgram, TwoFilesNeedNoDashes) {
  const TemporaryFolder folder;
  const Arguments base = made_runs(folder, "a", 1);
  const Arguments next = made_runs(folder, "b", 1, 1.1);
  const Ended alone = run_bench(Arguments{"compare"} + base + next);
  EXPECT_EQ(alone.code, 3) << alone.err;
  EXPECT_EQ(alone.out, compared(base, next).out);
  EXPECT_EQ(run_bench(Arguments{"compare"} + base + next + made_runs(folder, "c", 1)).code, 2);
}

// What a name says is shown, and nothing else: no other file, no line of its own, no markup.
TEST(CompareProgram, HostileNamesDoNothing) {
  const TemporaryFolder folder;
  Arguments base;
  Arguments next;
  for (int run = 0; run < 3; ++run) {
    for (Arguments* const side : {&base, &next}) {
      const std::string id = (side == &base ? "a" : "b") + std::to_string(run);
      ResultDocument document = made_document(id, run, side == &base ? 1 : 1.2);
      document.points[2].name =
          "<script>\x1b[2J\n::error::x|`$(touch " + (folder.path() / "pwned").string() + ")`";
      document.points[3].name = std::string(1'000'000, 'x');
      side->push_back(folder.path() / (id + ".json"));
      write_file(side->back(), to_text(to_json(document)));
    }
  }
  const std::size_t files = folder.names().size();
  for (const std::string format : {"table", "markdown", "junit", "github", "json"}) {
    const Ended ended = compared(base, next, {"--format", format, "--verbose"});
    EXPECT_EQ(ended.code, 1) << format << ended.err;
    EXPECT_EQ(ended.out.find('\x1b'), std::string::npos) << format;
    EXPECT_EQ(ended.out.find("\n::error::x"), std::string::npos) << format;
    if (format != "json") {
      EXPECT_LT(ended.out.size(), 20'000U) << format;
    } else {
      EXPECT_EQ(schema_errors(ended.out, kCompareSchema), "");
    }
  }
  EXPECT_EQ(folder.names().size(), files);
}

TEST(CompareProgram, JunitIsValid) {
  const std::string xmllint = "/usr/bin/xmllint";
  if (!fs::exists(xmllint)) {
    GTEST_SKIP() << "needs xmllint (libxml2-utils)";
  }
  const TemporaryFolder folder;
  const Arguments base = made_runs(folder, "a");
  for (const Arguments& next :
       {made_runs(folder, "b"), made_runs(folder, "c", 5, 1.1), made_runs(folder, "d", 1)}) {
    for (const Arguments& options : {Arguments{}, Arguments{"--allow-inconclusive"}}) {
      const std::string path = folder.path() / "report.xml";
      write_file(path, compared({base.front(), base.front(), base.back()}, next,
                                options + Arguments{"--format", "junit"})
                           .out);
      Process check({"--noout", "--schema", BENCH_TEST_SOURCE_DIR "/tests/program/junit.xsd", path},
                    std::nullopt, xmllint);
      const Ended ended = check.wait();
      EXPECT_EQ(ended.code, 0) << ended.err << read_file(path);
    }
  }
}

}  // namespace
}  // namespace bench::testing
