// The loss of a thread that has to wait for a core, by arithmetic.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {
namespace {

constexpr double kMillisecond = 1e6;

// One core, on which a batch takes almost as long as a step of 20 ms: at the end of every step the worker is
// at work, and a batch is there.
Pipeline busy_core() {
  Pipeline pipeline;
  pipeline.workers = 1;
  pipeline.batch = 1;
  pipeline.batch_work_ns = {20.5 * kMillisecond};
  pipeline.compute_ns = {20 * kMillisecond};
  pipeline.lookahead = false;
  pipeline.law.cores = 1;
  pipeline.scheduling_latency = {
      {.workers = 1, .late_ns = {kMillisecond, kMillisecond, kMillisecond, kMillisecond}}};
  return pipeline;
}

TEST(SimulatedLatency, IsLostFromEveryStep) {
  EXPECT_NEAR(simulate(busy_core()).au, 20.0 / 21, 1e-3);
  Pipeline never = busy_core();
  never.scheduling_latency.clear();
  EXPECT_NEAR(simulate(never).au, 20 / 20.5, 1e-3);  // the loader's rate
}

TEST(SimulatedLatency, IsLostOnceWhereTheNextBatchIsTakenMeanwhile) {
  // The batch is awaited while the step before it computes: who waits for it, late or not, is at the loader's
  // rate.
  Pipeline pipeline = busy_core();
  pipeline.lookahead = true;
  EXPECT_NEAR(simulate(pipeline).au, 20 / 20.5, 1e-3);
}

TEST(SimulatedLatency, KeepsTheMeanOfTheDelays) {
  Pipeline pipeline = busy_core();
  pipeline.scheduling_latency[0].late_ns = {0.6 * kMillisecond, 0.8 * kMillisecond, 1.0 * kMillisecond,
                                            1.6 * kMillisecond};
  EXPECT_NEAR(simulate(pipeline).au, 20.0 / 21, 3e-3);
}

TEST(SimulatedLatency, IsMetAsOftenAsCoresAreBusy) {
  // Whenever it is that they are: a batch of 5 ms is done long before each step ends.
  for (const double cores : {1.0, 2.0}) {
    Pipeline pipeline = busy_core();
    pipeline.steps = 20'000;
    pipeline.law.cores = cores;
    pipeline.batch_work_ns = {5 * kMillisecond};
    const double busy = 5 / (20 + 0.25 / cores) / cores;
    EXPECT_NEAR(simulate(pipeline).au, 20 / (20 + busy), 1e-3) << cores;
  }
  Pipeline pipeline = busy_core();
  pipeline.batch_work_ns = {1.0};
  EXPECT_NEAR(simulate(pipeline).au, 1, 1e-6);
}

TEST(SimulatedLatency, LiesBetweenTheMeasuredCounts) {
  Pipeline pipeline = busy_core();
  pipeline.batch_work_ns = {21.9 * kMillisecond};
  pipeline.scheduling_latency = {{.workers = 0.5, .late_ns = {0}},
                                 {.workers = 1.5, .late_ns = {4 * kMillisecond}}};
  EXPECT_NEAR(simulate(pipeline).au, 20.0 / (20 + 2), 1e-3);
}

TEST(SimulatedLatency, IsNotCountedTwiceForAConsumerOnTheSameCores) {
  Pipeline pipeline = busy_core();
  pipeline.shared_cores = {{.active = 1, .consumer_speed = 1, .worker_speed = 1}};
  EXPECT_NEAR(simulate(pipeline).au, 20 / 20.5, 1e-3);
}

TEST(SimulatedLatency, TakingABatchIsLostTooAndIsNoPartOfALoaderThatDoesNothing) {
  Pipeline pipeline = busy_core();
  pipeline.scheduling_latency.clear();
  pipeline.take_ns = 4 * kMillisecond;
  EXPECT_NEAR(simulate(pipeline).au, 20.0 / 24, 1e-3);
  EXPECT_NEAR(ready_au(pipeline), 1, 1e-9);
  pipeline.lookahead = true;  // it is taken while the step before it computes
  pipeline.batch_work_ns = {15 * kMillisecond};
  EXPECT_NEAR(simulate(pipeline).au, 1, 1e-9);
}

TEST(SimulatedLatency, RefusesDelaysThatAreNone) {
  Pipeline pipeline = busy_core();
  pipeline.scheduling_latency.push_back({.workers = 2, .late_ns = {1.0}});
  EXPECT_THROW(simulate(pipeline), std::invalid_argument);
  pipeline = busy_core();
  pipeline.scheduling_latency[0].late_ns[0] = -1;
  EXPECT_THROW(simulate(pipeline), std::invalid_argument);
}

}  // namespace
}  // namespace bench::simulator
