// Ctrl-C and the time budget while a sweep is planned and prepared, on the device of the tests.
#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Planning : public ::testing::Test {
 protected:
  // --lost-at 0: it never is.
  Ended run(const std::string& sweep, const Arguments& more) const {
    return Process(Arguments{"--sweep", sweep, "--workload", "fragile", "--device", "fragile", "--lost-at",
                             "0", "--bytes-a-sample", "1000", "--no-plot", "--out", folder_.path().string()} +
                       more,
                   std::nullopt, FRAGILE_PROGRAM)
        .wait();
  }
  ResultDocument result(const std::string& sweep) const {
    const std::filesystem::path path = folder_.path() / (sweep + "-fragile-fragile.json");
    EXPECT_EQ(schema_errors(read_file(path)), "");
    return read_result(path);
  }
  static std::vector<std::string> measured(const ResultDocument& document) {
    std::vector<std::string> names;
    for (const Point& point : document.points) {
      names.push_back(point.name);
    }
    return names;
  }

  TemporaryFolder folder_;
};

struct Interruption {
  std::string sweep;
  Arguments more;
  int plan;  // that is interrupted: a later one than the sweep's first
};

class InterruptedPlanning : public Planning, public ::testing::WithParamInterface<Interruption> {};

TEST_P(InterruptedPlanning, EndsBehindThePlanThatIsMade) {
  const auto& [sweep, more, plan] = GetParam();
  const std::string number = std::to_string(plan);
  const Ended ended = run(sweep, more + Arguments{"--memory-cap", "1MiB", "--interrupted-plan", number});
  EXPECT_EQ(ended.signal, 0) << "the handlers were not installed";
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("plans: " + number + "\n"));
  EXPECT_THAT(ended.err, HasSubstr("othing was measured"));
  EXPECT_THAT(folder_.names(), IsEmpty());
}

// 17 batches, of which 1 MiB holds eleven.
INSTANTIATE_TEST_SUITE_P(Sweeps, InterruptedPlanning,
                         ::testing::Values(Interruption{"batch", {}, 1}, Interruption{"batch", {}, 2},
                                           Interruption{"batch", {"--dry-run"}, 5},
                                           Interruption{"batch", {"--dry-run"}, 12},
                                           Interruption{"batch", {"--benchmark_list_tests"}, 5},
                                           Interruption{"memory", {}, 3},
                                           Interruption{"memory", {"--dry-run"}, 14}));

// One plan before the points, and one for each of them: of 100 s the third point's leaves nothing.
TEST_F(Planning, CountsTowardsTheTimeBudget) {
  const Ended ended = run("batch", {"--batch", "1,2,4,8", "--plan-takes", "25"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = result("batch");
  EXPECT_THAT(measured(document),
              ElementsAre("batch/fragile/infer/fp32/batch:1", "batch/fragile/infer/fp32/batch:2"));
  ASSERT_EQ(document.unmeasured.size(), 2U);
  EXPECT_EQ(document.unmeasured[0].status, "skipped");
  expect_words(document.unmeasured[0].reason);
}

class Preparing : public Planning, public ::testing::WithParamInterface<const char*> {};

TEST_P(Preparing, CountsTowardsTheTimeBudget) {
  setenv(GetParam(), "90", 1);
  const Ended in_time = run("batch", {"--batch", "1,2"});
  EXPECT_EQ(in_time.code, 0) << in_time.err;
  EXPECT_THAT(measured(result("batch")), SizeIs(2));
  setenv(GetParam(), "100", 1);
  const Ended late = run("batch", {"--batch", "1,2"});
  unsetenv(GetParam());
  EXPECT_EQ(late.code, 3) << late.err;
  const ResultDocument document = result("batch");
  EXPECT_THAT(measured(document), IsEmpty());
  ASSERT_THAT(document.unmeasured, SizeIs(2));
  expect_words(document.unmeasured[0].reason);
}

INSTANTIATE_TEST_SUITE_P(Device, Preparing, ::testing::Values("FRAGILE_OPENING_TAKES", "FRAGILE_PEAKS_TAKE"));

const Arguments kThreeCaps{"--batch", "1", "--memory-cap", "1MiB,2MiB,4MiB"};

// Two sizes for the line, then for each cap two for the largest batch and two for the safe one: 14 plans. Of
// 100 s the first five are made before the point, then all of them after it.
TEST_F(Planning, OfLargestBatchesGoesOnBehindThePoints) {
  const Ended ended = run("memory", kThreeCaps + Arguments{"--plan-takes", "4"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = result("memory");
  EXPECT_THAT(measured(document), ElementsAre("memory/fragile/infer/fp32/batch:1"));
  std::vector<std::int64_t> largest;
  for (const Json& limit : document.sweep.state.at("limits")) {
    largest.push_back(limit.at("largest_batch"));
  }
  EXPECT_THAT(largest, ElementsAre(1048, 2097, 4194));
  EXPECT_FALSE(document.sweep.state.contains("limits_left_out"));
}

TEST_F(Planning, LeavesOutLargestBatchesThatTheBudgetHasNoRoomForAndSaysSo) {
  const Ended ended = run("memory", kThreeCaps + Arguments{"--plan-takes", "9"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = result("memory");
  EXPECT_THAT(measured(document), ElementsAre("memory/fragile/infer/fp32/batch:1"));
  EXPECT_EQ(document.sweep.state.at("limits").size(), 1U);
  EXPECT_EQ(document.sweep.state.at("limits_left_out").at("count"), 2);
  const auto said = std::ranges::find(document.findings, "limits_left_out", &Finding::name);
  ASSERT_NE(said, document.findings.end());
  EXPECT_EQ(said->claim,
            "Largest batches by plan: 2 of 3 are missing, because the time budget ended [larger "
            "--time-budget].");
}

TEST_F(Planning, OfADryRunHasNoBudget) {
  const Ended ended = run("memory", {"--memory-cap", "1MiB", "--dry-run", "--verbose", "--plan-takes", "60"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("1048 (100 %)"), HasSubstr("batch:2048")));
}

}  // namespace
}  // namespace bench::testing
