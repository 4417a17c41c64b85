#include "bench/compare/matching.h"

#include <functional>

#include <gmock/gmock.h>

#include "bench/compare/differences.h"
#include "bench/error.h"
#include "tests/bench/compare/runs.h"
#include "tests/bench/support/golden_words.h"

namespace bench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string refusal(std::vector<ComparedRun> base, std::vector<ComparedRun> next,
                    const AllowedDifferences& allowed = {}) {
  try {
    match_runs(std::move(base), std::move(next), allowed);
  } catch (const NotComparable& error) {
    return error.what();
  }
  return "";
}

TEST(Matching, PointsAreMatchedByNameAndTheRestIsNamed) {
  ComparedRun base = compared_run_of("a", {{"x", 1}, {"gone", 1}, {"now fails", 1}, {"now full", 1}});
  ComparedRun next = compared_run_of("b", {{"x", 1}, {"more", 1}});
  next.unmeasured = {{.name = "now fails", .params = {}, .status = "error", .reason = "wrong answer"},
                     {.name = "now full", .params = {}, .status = "oom", .reason = "3 GiB"}};
  const Matching matching = match_runs({base}, {next}, {});
  ASSERT_EQ(matching.suites.size(), 1U);
  const Suite& suite = matching.suites.front();
  ASSERT_EQ(suite.points.size(), 1U);
  EXPECT_EQ(suite.points.front().name, "x");
  std::map<std::string, std::pair<UnmatchedPoint::Kind, std::string>> unmatched;
  for (const UnmatchedPoint& point : suite.unmatched) {
    unmatched[point.name] = {point.kind, point.reason};
  }
  using Kind = UnmatchedPoint::Kind;
  EXPECT_EQ(unmatched["gone"].first, Kind::missing);
  EXPECT_EQ(unmatched["more"].first, Kind::added);
  EXPECT_EQ(unmatched["now fails"], std::pair(Kind::failing, std::string("wrong answer")));
  EXPECT_EQ(unmatched["now full"], std::pair(Kind::oom, std::string("3 GiB")));
}

TEST(Matching, APointThatFailedBeforeIsNotNewlyFailing) {
  ComparedRun base = compared_run_of("a", {{"x", 1}, {"y", 1}});
  ComparedRun base_2 = compared_run_of("a2", {{"x", 1}});
  base_2.unmeasured = {{.name = "y", .params = {}, .status = "error", .reason = "now and then"}};
  ComparedRun next = compared_run_of("b", {{"x", 1}, {"y", 1}});
  ComparedRun next_2 = compared_run_of("b2", {{"x", 1}});
  next_2.unmeasured = base_2.unmeasured;
  const Matching matching = match_runs({base, base_2}, {next, next_2}, {});
  EXPECT_THAT(matching.suites.front().unmatched, IsEmpty());
  EXPECT_EQ(matching.points(), 2U);
}

TEST(Matching, APointThatTheTimeBudgetLeftOutIsNotMissing) {
  ComparedRun next = compared_run_of("b", {{"x", 1}});
  next.unmeasured = {{.name = "y", .params = {}, .status = "skipped", .reason = "the time budget ended"}};
  const Matching matching = match_runs({compared_run_of("a", {{"x", 1}, {"y", 1}})}, {next}, {});
  EXPECT_EQ(matching.suites.front().unmatched.front().kind, UnmatchedPoint::Kind::left_out);
  EXPECT_EQ(matching.suites.front().unmatched.front().reason, "skipped: the time budget ended");
}

TEST(Matching, ARunCountsOnceOnASide) {
  const ComparedRun run = compared_run_of("a", {{"x", 1}});
  ComparedRun copy = run;
  copy.path = "copy.json";
  const Matching matching = match_runs({run, copy}, {compared_run_of("b", {{"x", 1}})}, {});
  EXPECT_EQ(matching.runs.base.size(), 1U);
  expect_words(matching.notes);
}

TEST(Matching, ARunOnBothSidesIsLeftOutAndSaid) {
  const ComparedRun shared = compared_run_of("shared", {{"x", 1}});
  const Matching matching =
      match_runs({compared_run_of("a", {{"x", 1}}), shared}, {compared_run_of("b", {{"x", 1}}), shared}, {});
  EXPECT_EQ(matching.runs.base.size(), 1U);
  EXPECT_EQ(matching.runs.next.size(), 1U);
  expect_words(matching.notes);
  expect_words(refusal({shared}, {shared}));
}

TEST(Matching, OtherDevicesAreRefused) {
  const auto base = compared_run_of("a", {{"x", 1}});
  const auto changed = [&](const std::function<void(DeviceInfo&)>& change) {
    ComparedRun run = compared_run_of("b", {{"x", 1}});
    change(run.context.device);
    return run;
  };
  const auto other_name = changed([](DeviceInfo& device) { device.name = "Other CPU"; });
  expect_words(refusal({base}, {other_name}));
  EXPECT_NE(refusal({base}, {changed([](DeviceInfo& device) { device.compute_units = 4; })}), "");
  EXPECT_NE(refusal({base}, {changed([](DeviceInfo& device) { device.memory_bytes *= 2; })}), "");
  EXPECT_EQ(refusal({base}, {changed([](DeviceInfo& device) { device.memory_bytes += 1'000'000; })}), "");
  EXPECT_EQ(refusal({base}, {other_name}, {.device = true}), "");
}

// OMP_NUM_THREADS takes fewer cores of the same processor: a difference to compare.
TEST(Matching, FewerThreadsAreNoOtherDevice) {
  const auto run_of = [](const std::string& id, int threads, int usable) {
    ComparedRun run = compared_run_of(id, {{"x", 1}});
    run.context.device.compute_units = threads;
    run.context.host.usable_cores = usable;
    run.sessions.emplace_back().threads = {{"OMP_NUM_THREADS", std::to_string(threads)}};
    return run;
  };
  EXPECT_EQ(refusal({run_of("a", 2, 2)}, {run_of("b", 1, 2)}), "");
  expect_words(refusal({run_of("a", 2, 2)}, {run_of("b", 2, 4)}));
  ComparedRun card = run_of("c", 40, 2);
  card.context.device.kind = "cuda";
  ComparedRun smaller = card;
  smaller.identity = "d";
  smaller.context.device.compute_units = 20;
  expect_words(refusal({card}, {smaller}));
  const std::vector<Difference> differences =
      differences_of(match_runs({run_of("a", 2, 2)}, {run_of("b", 1, 2)}, {}));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences.front().what, "OMP_NUM_THREADS");
}

TEST(Matching, AnotherGraphByTheNameOfAFileIsRefused) {
  const auto run_of = [](const std::string& id, const std::string& name, const std::string& hash) {
    ComparedRun run = compared_run_of(id, {{"batch/" + name + "-" + hash + "/batch:1", 1}});
    run.sweep.workload = name + "-" + hash;
    run.context.workload_file = WorkloadFile{.format = "onnx", .path = name, .name = name, .hash = hash};
    return run;
  };
  const ComparedRun base = run_of("a", "net", "0123abcd");
  EXPECT_EQ(
      refusal({base}, {run_of("b", "net", "9876fedc")}),
      "the graph of 'net' differs between BASE (0123abcd) and NEW (9876fedc); compare runs of one graph");
  EXPECT_EQ(refusal({base}, {run_of("b", "net", "0123abcd")}), "");
  expect_words(refusal({base}, {run_of("b", "other", "9876fedc")}));
}

TEST(Matching, EachDeviceOfBothSidesIsASuite) {
  const auto on = [](const std::string& id, const std::string& device) {
    ComparedRun run = compared_run_of(id, {{"x", 1}});
    run.context.device.name = device;
    return run;
  };
  const Matching matching =
      match_runs({on("a", "one"), on("b", "two")}, {on("c", "two"), on("d", "one")}, {});
  EXPECT_EQ(matching.suites.size(), 2U);
  EXPECT_EQ(matching.points(), 2U);
}

TEST(Matching, OtherParamsOfOneNameAreRefused) {
  ComparedRun other = compared_run_of("b", {{"x", 1}});
  other.points.front().params = {{"batch", 1}, {"image-size", 96}};
  const auto base = compared_run_of("a", {{"x", 1}});
  expect_words(refusal({base}, {other}));
  EXPECT_EQ(refusal({base}, {other}, {.params = true}), "");
  ComparedRun reordered = compared_run_of("c", {{"x", 1}});
  reordered.points.front().params = {{"dtype", "fp32"}, {"batch", 1}};
  ComparedRun first = compared_run_of("d", {{"x", 1}});
  first.points.front().params = {{"batch", 1}, {"dtype", "fp32"}};
  EXPECT_EQ(refusal({first}, {reordered}), "") << "the order of params is no difference";
}

TEST(Matching, NoPointInCommonIsRefused) {
  expect_words(refusal({compared_run_of("a", {{"x", 1}})}, {compared_run_of("b", {{"y", 1}})}));
}

TEST(Matching, ANewSideOfWhichEveryPointFailsSaysWhy) {
  const ComparedRun base = compared_run_of("a", {{"x", 1}, {"y", 1}});
  ComparedRun next = compared_run_of("b", {});
  EXPECT_EQ(refusal({base}, {next}), "NEW has no measured point; give a run that measured some");
  EXPECT_EQ(refusal({next}, {base}), "BASE has no measured point; give a run that measured some");
  next.unmeasured = {{.name = "x", .params = {}, .status = "error", .reason = "illegal\naddress"},
                     {.name = "y", .params = {}, .status = "error", .reason = "illegal\naddress"}};
  EXPECT_EQ(refusal({base}, {next}), "NEW measured none of BASE's points; 'x' failed: illegal\\naddress");
  EXPECT_EQ(refusal({next}, {base}),
            "BASE has no measured point ('x': error, illegal\\naddress); give a run that measured some");
  next.unmeasured[0].status = "oom";
  EXPECT_EQ(refusal({base}, {next}),
            "NEW measured none of BASE's points; 'x' ran out of memory: illegal\\naddress");
  const Matching matching = match_runs({base}, {compared_run_of("c", {{"x", 1}}), next}, {});
  EXPECT_THAT(matching.notes, ElementsAre("NEW: b.json has no measured point"));
}

TEST(Differences, VersionsBuildAndWorkAreNamed) {
  ComparedRun base = compared_run_of("a", {{"x", 1}});
  ComparedRun next = compared_run_of("b", {{"x", 1}});
  next.context.software = {{"onednn", "3.0"}, {"driver", "550"}};
  next.points.front().work.launches = 7;
  const std::vector<Difference> differences = differences_of(match_runs({base}, {next}, {}));
  std::vector<std::string> words;
  for (const Difference& difference : differences) {
    words.push_back(difference.what + ": " + difference.base + " to " + difference.next);
  }
  EXPECT_THAT(words, ElementsAre("driver: none to 550", "onednn: 2.6 to 3.0", "kernels a step of x: 0 to 7"));
  EXPECT_THAT(differences_of(match_runs({base}, {compared_run_of("c", {{"x", 1}})}, {})), IsEmpty());
}

TEST(Differences, EachBuildOfARunThatWasResumedIsNamed) {
  const auto run_of_builds = [](const std::string& name, const std::vector<std::string>& builds) {
    ComparedRun run = compared_run_of(name, {{"x", 1}});
    for (const std::string& build : builds) {
      run.sessions.emplace_back().build = build;
    }
    return run;
  };
  const ComparedRun base = run_of_builds("a", {"0123456789abcdef", "fedc", "fedc"});
  const ComparedRun next = run_of_builds("b", {"fedc"});
  const std::vector<Difference> differences = differences_of(match_runs({base}, {next}, {}));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences.front().base, "0123456789ab… and fedc");
  EXPECT_EQ(differences.front().next, "fedc");
}

TEST(Differences, OtherAlgorithmsAreNamedWhereBothSidesKnowTheirs) {
  ComparedRun base = compared_run_of("a", {{"x", 1}, {"y", 1}, {"z", 1}});
  ComparedRun next = compared_run_of("b", {{"x", 1}, {"y", 1}, {"z", 1}});
  base.points[0].algorithms = {{"jit", 3}, {"brgemm", 2}};
  next.points[0].algorithms = {{"jit", 1}, {"wino", 2}, {"brgemm", 2}};
  base.points[1].algorithms = next.points[1].algorithms = {{"jit", 1}};
  next.points[2].algorithms = {{"jit", 1}};
  const std::vector<Difference> differences = differences_of(match_runs({base}, {next}, {}));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences.front().what, "algorithms of x");
  EXPECT_EQ(differences.front().base, "3 jit");
  EXPECT_EQ(differences.front().next, "1 jit + 2 wino");
}

TEST(Differences, ClocksThatAreNotAboutTheSameAreNamed) {
  const auto run_at = [](const std::string& id, std::optional<double> mhz) {
    ComparedRun run = compared_run_of(id, {{"x", 1}});
    run.clock_mhz = mhz;
    return run;
  };
  const std::vector<Difference> differences =
      differences_of(match_runs({run_at("a", 1980)}, {run_at("b", 1410), run_at("c", {})}, {}));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences.front().what, "median clock");
  EXPECT_EQ(differences.front().base, "1980 MHz");
  EXPECT_EQ(differences.front().next, "1410 MHz");
  EXPECT_THAT(differences_of(match_runs({run_at("a", 1980)}, {run_at("b", 1950)}, {})), IsEmpty());
  EXPECT_THAT(differences_of(match_runs({run_at("a", 1980)}, {run_at("b", {})}, {})), IsEmpty());
}

TEST(Differences, AllowedDevicesAndParamsAreNamed) {
  const AllowedDifferences all{.device = true, .params = true};
  const ComparedRun base = compared_run_of("a", {{"x", 1}, {"y", 1}});
  ComparedRun next = compared_run_of("b", {{"x", 1}, {"y", 1}});
  next.context.device.name = "Other CPU";
  for (RunPoint& point : next.points) {
    point.params = {{"batch", 1}, {"image-size", 96}};
  }
  std::vector<Difference> differences = differences_of(match_runs({base}, {next}, all));
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].what, "device");
  EXPECT_EQ(differences[0].next, "Other CPU");
  EXPECT_EQ(differences[1].what, "image-size of x and 1 more");
  EXPECT_EQ(differences[1].base, "none");
  EXPECT_EQ(differences[1].next, "96");
  next = compared_run_of("c", {{"x", 1}, {"y", 1}});
  next.context.device.memory_bytes *= 2;
  differences = differences_of(match_runs({base}, {next}, all));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_NE(differences[0].base, differences[0].next);
}

// The headline has room for four.
TEST(Differences, WhatMattersMostComesFirst) {
  ComparedRun base = compared_run_of("a", {{"x", 1}});
  ComparedRun next = compared_run_of("b", {{"x", 1}});
  base.context.software = {{"bench", "1"}, {"compiler", "1"}, {"git", "1"}, {"onednn", "1"}};
  next.context.software = {{"bench", "2"}, {"compiler", "2"}, {"git", "2"}, {"onednn", "2"}};
  next.context.host.cpu = "other";
  base.clock_mhz = 1000;
  next.clock_mhz = 2000;
  std::vector<std::string> names;
  for (const Difference& difference : differences_of(match_runs({base}, {next}, {}))) {
    names.push_back(difference.what);
  }
  EXPECT_THAT(names, ElementsAre("onednn", "median clock", "host", "bench", "compiler", "git"));
}

TEST(Differences, SeveralValuesOfASideAreNamed) {
  ComparedRun other = compared_run_of("a2", {{"x", 1}});
  other.context.software = {{"onednn", "2.7"}};
  const std::vector<Difference> differences = differences_of(
      match_runs({compared_run_of("a", {{"x", 1}}), other}, {compared_run_of("b", {{"x", 1}})}, {}));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences.front().base, "2.6, 2.7");
  EXPECT_EQ(differences.front().next, "2.6");
}

}  // namespace
}  // namespace bench::testing
