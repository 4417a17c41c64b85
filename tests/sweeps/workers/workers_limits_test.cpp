// The limit that the workers sweep names on known machines.
#include <gtest/gtest.h>

#include <string>

#include "sweeps/workers/answer.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::claim;
using testing::found;
using testing::LoaderMachine;
using testing::measured_by;

// A batch of 16 is copied in 40 ms, for 400 images a second; workers make 714.
LoaderMachine slow_to_copy() {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  machine.copy_ns = 40e6;
  return machine;
}

LoaderPoint with_au(std::int64_t workers, double au, double half) {
  LoaderPoint point;
  point.workers = workers;
  point.au = Estimate{.value = au, .ci95 = Interval{au - half, au + half}};
  return point;
}

TEST(WorkersKneeClaim, NamesOneCountWhereNoOtherIsPossible) {
  Evidence evidence;
  evidence.points.pool = {with_au(0, 0.62, 0.05), with_au(1, 0.972, 0.06), with_au(2, 0.947, 0.03)};
  expect_words(claim(evidence, "knee"));
  evidence.points.pool = {with_au(0, 0.62, 0.05), with_au(1, 0.93, 0.1), with_au(2, 0.972, 0.08)};
  expect_words(claim(evidence, "knee"));
}

TEST(WorkersLimits, CopyingIsTheLimitWhereItTakesLongerThanComputing) {
  const Evidence evidence = measured_by(slow_to_copy());
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "copy");
  EXPECT_NEAR(*found(evidence, "plateau")->value, 400, 5);
  expect_words(claim(evidence, "plateau"));

  const Evidence simulated = testing::simulated_from(*evidence.profile, {});
  EXPECT_EQ(found(simulated, "plateau")->details["limited_by"], "copy");
  expect_words(claim(simulated, "plateau"));
}

TEST(WorkersLimits, ThePlateauNamesTheFewestWorkersThatReachIt) {
  Evidence evidence = testing::simulated_from(*measured_by(slow_to_copy()).profile, {});
  evidence.simulated->points = {{.workers = 3, .samples_per_s = 799, .au = 1, .limited_by = "consumer"},
                                {.workers = 9, .samples_per_s = 800, .au = 1, .limited_by = "consumer"}};
  expect_words(claim(evidence, "plateau"));
}

TEST(WorkersLimits, WithoutWorkersNoneIsBusy) {
  Evidence evidence;
  evidence.points.pool = {with_au(0, 0.6, 0.01), with_au(1, 0.7, 0.01)};
  evidence.points.pool.front().samples_per_s = {.value = 84};
  evidence.points.pool.back().samples_per_s = {.value = 56};
  evidence.points.pool.front().compute_ns = 2e6;
  evidence.points.ready = LoaderPoint{};
  evidence.points.ready->compute_ns = 1e6;
  expect_words(claim(evidence, "plateau"));
  evidence.points.pool.front().au = Estimate{.value = 0.99, .ci95 = {}};
  expect_words(claim(evidence, "plateau"));
}

TEST(WorkersLimits, ACopyThatIsShortLimitsNothing) {
  LoaderMachine machine;
  machine.copy_ns = 30e6;  // of 36
  EXPECT_EQ(found(measured_by(machine), "plateau")->details["limited_by"], "consumer");
}

TEST(WorkersLimits, ARequirementBeyondWhatCopiesDeliverCannotBeFed) {
  LoaderMachine machine = slow_to_copy();
  machine.required = {{.name = "h200", .samples_per_s = 600, .source = "given"},
                      {.name = "t4", .samples_per_s = 300, .source = "given"}};
  const Evidence evidence = measured_by(machine);
  const Finding answer = *found(evidence, "demand/h200");
  EXPECT_FALSE(answer.value);
  EXPECT_NEAR(answer.details["au"].get<double>(), 400.0 / 600, 0.02);
  EXPECT_NEAR(answer.details["tops_out_images_per_s"].get<double>(), 400, 1);
  EXPECT_EQ(answer.details["limited_by"], "copy");
  expect_words(answer.claim);
  EXPECT_GT(answer.headline, 0) << "without a number of workers, and yet an answer";
  EXPECT_TRUE(found(evidence, "demand/t4")->value);
}

TEST(WorkersLimits, TheAuOfARequirementIsThePartDelivered) {
  LoaderMachine machine;
  machine.required = {{.name = "huge", .samples_per_s = 100'000, .source = "given"}};
  const Finding answer = *found(measured_by(machine), "demand/huge");
  EXPECT_NEAR(answer.details["au"].get<double>(), 0.0065, 0.002);  // at most 714 a second
}

// The consumer was expected to be fed, waits all the same, and the cores have time left.
TEST(WorkersLimits, IdleCoresAreNotCalledBusy) {
  const LoaderMachine machine;
  auto measured = machine.measured();
  testing::change_windows(measured, testing::of_loader("pool"), [](Window& window) {
    for (double& step : window.step_ns) {
      step *= 1.08;
    }
  });
  Evidence evidence = testing::evidence_of(measured, machine.setup());
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "unknown");
  const std::string busy = claim(evidence, "plateau");
  expect_words(busy);

  evidence.profile.reset();
  evidence.simulated.reset();
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "unknown");
  EXPECT_EQ(claim(evidence, "plateau"), busy);
}

// As after Ctrl-C.
TEST(WorkersLimits, BusyWorkersAreTheLimitWithoutASimulationToo) {
  Evidence evidence = measured_by({});
  evidence.profile.reset();
  evidence.simulated.reset();
  evidence.points.capacity.clear();
  evidence.points.pool.resize(3);  // none, 1 and 2 workers on 4 cores
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "workers");
  expect_words(claim(evidence, "plateau"));
}

TEST(WorkersLimits, AllCoresAreBusyWhereTheLoaderAloneMakesNoMore) {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  Evidence evidence = measured_by(machine);
  evidence.profile.reset();
  evidence.simulated.reset();
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "decode");
  expect_words(claim(evidence, "plateau"));
}

}  // namespace
}  // namespace bench::sweeps
