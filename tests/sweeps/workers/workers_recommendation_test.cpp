// How many workers the sweep recommends, and whether to pin, on machines that are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sweeps/workers/answer.h"
#include "sweeps/workers/record.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::claim;
using testing::found;
using testing::LoaderMachine;
using testing::measured_by;

TEST(WorkersRecommendation, NeverRecommendsACountThatMakesFewerSamples) {
  // Workers take the consumer's cores: it waits less and computes longer, so that AU rises where samples
  // fall.
  Evidence evidence;
  const auto point = [](std::int64_t workers, double au, double samples_per_s) {
    const auto known = [](double value) {
      return Estimate{.value = value, .ci95 = Interval{0.98 * value, 1.02 * value}};
    };
    LoaderPoint one;
    one.name = "workers/pool/workers:" + std::to_string(workers);
    one.workers = workers;
    one.au = known(au);
    one.samples_per_s = known(samples_per_s);
    return one;
  };
  evidence.points.pool = {point(0, 0.7, 84), point(1, 0.9, 56), point(2, 0.95, 57), point(4, 0.97, 57)};
  EXPECT_EQ(found(evidence, "harm")->value, 1);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 0);
  expect_words(claim(evidence, "recommended_workers"));

  evidence.points.pool = {point(0, 0.5, 84), point(1, 0.7, 100), point(2, 0.9, 84), point(4, 0.99, 80)};
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 1);
  for (LoaderPoint& one : evidence.points.pool) {  // ready data were not measured, and nothing was simulated
    one.au.reset();
  }
  EXPECT_TRUE(found(evidence, "harm"));
  EXPECT_FALSE(found(evidence, "recommended_workers"));
}

// AU is 1.00 with workers that take the consumer's cores, and its steps are no shorter.
TEST(WorkersRecommendation, AdvisesNoWorkersThatMayBeSlowerThanNone) {
  const auto point = [](std::int64_t workers, double au, double step_ms, double compute_ms) {
    const auto within_5 = [](double value) {
      return Estimate{.value = value, .ci95 = Interval{0.95 * value, 1.05 * value}};
    };
    LoaderPoint one;
    one.name = "workers/pool/workers:" + std::to_string(workers);
    one.workers = workers;
    one.batch = 8;
    one.au = Estimate{.value = au, .ci95 = Interval{au - 0.005, au + 0.005}};
    one.step_ns = step_ms * 1e6;
    one.compute_ns = compute_ms * 1e6;
    one.samples_per_s = within_5(8e3 / step_ms);
    one.stages_ns.decode = 1.6e6;  // of a sample: 12.8 ms of a batch
    return one;
  };
  Evidence evidence;
  evidence.points.ready = point(0, 1, 149, 148);
  evidence.points.pool = {point(1, 0.9, 200, 180), point(2, 0.99, 182, 181)};
  const Finding open = *found(evidence, "recommended_workers");
  EXPECT_EQ(open.ci95->low, 0);
  EXPECT_FALSE(open.details.contains("prefetch"));
  expect_words(open.claim);
  evidence.not_measured = {0};
  expect_words(claim(evidence, "recommended_workers"));

  evidence.points.pool.insert(evidence.points.pool.begin(), point(0, 0.9, 185, 148));
  evidence.not_measured.clear();
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 0) << "within 5 %";
  expect_words(claim(evidence, "recommended_workers"));
  evidence.points.pool.front() = point(0, 0.7, 205, 148);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 2);
  evidence.points.pool.front() = point(0, 0.9, 185, 148);
  evidence.points.pool.back().compute_ns = 150e6;  // AU tells what it loses
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 2);
}

TEST(WorkersRecommendation, NeverRecommendsAgainstTheOnlyMeasuredCount) {
  Evidence evidence = measured_by({});
  evidence.points.pool.resize(1);
  ASSERT_EQ(evidence.points.pool.front().workers, 0);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);  // measured 0.3, simulated 1
  for (SimulatedPoint& point : evidence.simulated->points) {
    point.au *= 0.17;
  }
  evidence.points.pool.front().au = Estimate{.value = 0.9465};
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 0);
  expect_words(claim(evidence, "recommended_workers"));
  expect_words(claim(evidence, "starvation"));
  evidence.points.pool.front().au = Estimate{.value = 0.97};
  expect_words(claim(evidence, "recommended_workers"));
}

TEST(WorkersRecommendation, RecommendsWithTheHostMemoryItTakes) {
  const Evidence evidence = measured_by({});
  const Finding finding = *found(evidence, "recommended_workers");
  EXPECT_EQ(finding.value, 3);
  const auto prefetch = finding.details["prefetch"].get<double>();
  EXPECT_NEAR(finding.details["host_bytes"].get<double>(), 3 * (prefetch * 16 * 602'112 + 3'000'000), 10);
  expect_words(finding.claim);
}

TEST(WorkersRecommendation, RecommendsNoWorkersWhereTheyGainNothing) {
  LoaderMachine machine;
  machine.image_ns = 20e3;  // a step waits 0.32 ms of 36 ms
  const Evidence evidence = measured_by(machine);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 0);
  expect_words(claim(evidence, "starvation"));
}

// As after Ctrl-C, which ends the run before anything is simulated.
TEST(WorkersRecommendation, WithoutASimulationItRecommendsFromWhatWasMeasuredAndSaysSo) {
  Evidence evidence = measured_by({});
  evidence.profile.reset();
  evidence.simulated.reset();
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);
  expect_words(claim(evidence, "recommended_workers"));
  evidence.not_measured = {16, 32};
  expect_words(claim(evidence, "recommended_workers"));
}

TEST(WorkersRecommendation, ANoisyRunStillRecommends) {
  Evidence evidence = measured_by({});
  for (LoaderPoint& point : evidence.points.pool) {
    point.au->ci95 = Interval{point.au->value - 0.3, point.au->value + 0.3};
  }
  evidence.simulated.reset();
  ASSERT_TRUE(measured_knee(evidence.points.pool));
  EXPECT_FALSE(measured_knee(evidence.points.pool)->batch);
  EXPECT_TRUE(found(evidence, "recommended_workers")->value);
  expect_words(claim(evidence, "recommended_workers"));
}

TEST(WorkersRecommendation, WithinNoiseTheSimulationChoosesAndTheClaimSaysWhy) {
  Evidence evidence = measured_by({});
  expect_words(claim(evidence, "recommended_workers"));
  for (LoaderPoint& point : evidence.points.pool) {
    point.au->ci95 = Interval{point.au->value - 0.3, point.au->value + 0.3};
  }
  const Knee knee = *measured_knee(evidence.points.pool);
  ASSERT_FALSE(knee.batch);
  ASSERT_LT(knee.low, knee.high);
  ASSERT_LE(3, knee.high);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);
  expect_words(claim(evidence, "recommended_workers"));
}

TEST(WorkersRecommendation, OneWideIntervalDoesNotMakeManyWorkersOfFew) {
  Evidence evidence = measured_by({});
  LoaderPoint& three = *std::ranges::find(evidence.points.pool, 3, &LoaderPoint::workers);
  three.au->ci95 = Interval{three.au->value - 0.1, three.au->value + 0.02};
  const Knee knee = *measured_knee(evidence.points.pool);
  ASSERT_EQ(knee.batch, 4);
  ASSERT_LE(knee.low, 3);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);
  expect_words(claim(evidence, "recommended_workers"));
}

// The table lists the larger counts with their higher AU, which noise took above 1.
TEST(WorkersRecommendation, FewerWorkersThanTheBestSayWhatMoreBring) {
  Evidence evidence = measured_by({});
  for (LoaderPoint& point : evidence.points.pool) {
    const double au = point.workers < 2 ? point.au->value : point.workers == 2 ? 0.97 : 1.01;
    point.au = Estimate{.value = au, .ci95 = Interval{au - 0.001, au + 0.001}};
  }
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 2);
  expect_words(claim(evidence, "recommended_workers"));
  expect_words(claim(evidence, "knee"));
}

// Ready data from pinned memory, whose steps take that part of those from pageable memory.
Evidence staged(double part) {
  const LoaderMachine machine;
  auto measured = machine.measured();
  std::vector<Point> pinned{*std::ranges::find_if(measured, testing::of_loader("ready"))};
  std::ranges::find_if(measured, testing::of_loader("ready"))->params["staging"] = "pageable";
  testing::change_windows(pinned, testing::of_loader("ready"), [part](Window& window) {
    for (double& step : window.step_ns) {
      step *= part;
    }
  });
  pinned.front().name += "/staging:pinned";
  pinned.front().params["loader"] = "other-staging";
  pinned.front().params["staging"] = "pinned";
  measured.push_back(pinned.front());
  return testing::evidence_of(measured, machine.setup());
}

TEST(WorkersRecommendation, PinsWhereReadyDataArriveSoonerForIt) {
  const Evidence pays = staged(0.9);
  ASSERT_TRUE(found(pays, "pinning"));
  EXPECT_NEAR(*found(pays, "pinning")->value, 1 / 0.9, 0.01);
  expect_words(claim(pays, "pinning"));
  expect_words(claim(pays, "recommended_workers"));
  const Evidence does_not = staged(1);
  expect_words(claim(does_not, "pinning"));
  expect_words(claim(does_not, "recommended_workers"));
  EXPECT_FALSE(found(measured_by({}), "pinning"));
}

TEST(WorkersRecommendation, OneWindowASideIsNoReasonToPin) {
  Evidence evidence = staged(0.9);
  evidence.points.ready->samples_per_s.ci95.reset();
  evidence.points.other_staging->samples_per_s.ci95.reset();
  EXPECT_FALSE(found(evidence, "pinning")->ci95);
  expect_words(claim(evidence, "pinning"));
  expect_words(claim(evidence, "recommended_workers"));
}

}  // namespace
}  // namespace bench::sweeps
