// What a thread loses that has to wait for a core, by arithmetic.
#include <gmock/gmock.h>

#include <stdexcept>
#include <vector>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {
namespace {

constexpr double kMillisecond = 1e6;

// One core, on which a batch takes almost as long as a step of 20 ms: at the end of every step the worker is
// at work, and a batch is there.
Pipeline crowded() {
  Pipeline pipeline;
  pipeline.workers = 1;
  pipeline.batch = 1;
  pipeline.batch_work_ns = {20.5 * kMillisecond};
  pipeline.compute_ns = {20 * kMillisecond};
  pipeline.lookahead = false;
  pipeline.law.cores = 1;
  pipeline.wake = {{.workers = 1, .late_ns = {kMillisecond, kMillisecond, kMillisecond, kMillisecond}}};
  return pipeline;
}

TEST(SimulatedWake, IsLostFromEveryStep) {
  EXPECT_NEAR(simulate(crowded()).au, 20.0 / 21, 1e-3);
  Pipeline never = crowded();
  never.wake.clear();
  EXPECT_NEAR(simulate(never).au, 20 / 20.5, 1e-3);  // the loader's rate
}

TEST(SimulatedWake, IsLostOnceWhereTheNextBatchIsTakenMeanwhile) {
  // The batch is awaited while the step before it computes: who waits for it, late or not, is at the loader's
  // rate.
  Pipeline pipeline = crowded();
  pipeline.lookahead = true;
  EXPECT_NEAR(simulate(pipeline).au, 20 / 20.5, 1e-3);
}

TEST(SimulatedWake, KeepsTheMeanOfTheDelays) {
  Pipeline pipeline = crowded();
  pipeline.wake[0].late_ns = {0.6 * kMillisecond, 0.8 * kMillisecond, 1.0 * kMillisecond, 1.6 * kMillisecond};
  EXPECT_NEAR(simulate(pipeline).au, 20.0 / 21, 3e-3);
}

TEST(SimulatedWake, IsMetAsOftenAsCoresAreBusy) {
  // Whenever it is that they are: a batch of 5 ms is done long before each step ends.
  for (const double cores : {1.0, 2.0}) {
    Pipeline pipeline = crowded();
    pipeline.steps = 20'000;
    pipeline.law.cores = cores;
    pipeline.batch_work_ns = {5 * kMillisecond};
    const double busy = 5 / (20 + 0.25 / cores) / cores;
    EXPECT_NEAR(simulate(pipeline).au, 20 / (20 + busy), 1e-3) << cores;
  }
  Pipeline pipeline = crowded();
  pipeline.batch_work_ns = {1.0};
  EXPECT_NEAR(simulate(pipeline).au, 1, 1e-6);
}

TEST(SimulatedWake, LiesBetweenTheMeasuredCounts) {
  Pipeline pipeline = crowded();
  pipeline.batch_work_ns = {21.9 * kMillisecond};
  pipeline.wake = {{.workers = 0.5, .late_ns = {0}}, {.workers = 1.5, .late_ns = {4 * kMillisecond}}};
  EXPECT_NEAR(simulate(pipeline).au, 20.0 / (20 + 2), 1e-3);
}

TEST(SimulatedWake, IsNotCountedTwiceBesideAConsumerOnTheSameCores) {
  Pipeline pipeline = crowded();
  pipeline.beside = {{.active = 1, .consumer_speed = 1, .worker_speed = 1}};
  EXPECT_NEAR(simulate(pipeline).au, 20 / 20.5, 1e-3);
}

TEST(SimulatedWake, TakingABatchIsLostTooAndIsNoPartOfALoaderThatDoesNothing) {
  Pipeline pipeline = crowded();
  pipeline.wake.clear();
  pipeline.take_ns = 4 * kMillisecond;
  EXPECT_NEAR(simulate(pipeline).au, 20.0 / 24, 1e-3);
  EXPECT_NEAR(ready_au(pipeline), 1, 1e-9);
  pipeline.lookahead = true;  // it is taken while the step before it computes
  pipeline.batch_work_ns = {15 * kMillisecond};
  EXPECT_NEAR(simulate(pipeline).au, 1, 1e-9);
}

TEST(SimulatedWake, RefusesDelaysThatAreNone) {
  Pipeline pipeline = crowded();
  pipeline.wake.push_back({.workers = 2, .late_ns = {1.0}});
  EXPECT_THROW(simulate(pipeline), std::invalid_argument);
  pipeline = crowded();
  pipeline.wake[0].late_ns[0] = -1;
  EXPECT_THROW(simulate(pipeline), std::invalid_argument);
}

}  // namespace
}  // namespace bench::simulator
