// The simulator against arithmetic and closed forms of queueing theory.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bench/stats/statistics.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;

constexpr double kMs = 1e6;

// `cores` as many as workers, no loss between them.
Pipeline plain(std::int64_t workers, double make_ns, double compute_ns) {
  Pipeline pipeline;
  pipeline.workers = workers;
  pipeline.batch = 1;
  pipeline.batch_work_ns = {make_ns};
  pipeline.sample_work_ns = {make_ns};
  pipeline.compute_ns = {compute_ns};
  pipeline.law.cores = static_cast<double>(std::max<std::int64_t>(1, workers));
  return pipeline;
}

// Midpoints of equal parts of the distribution, scaled to the mean exactly.
std::vector<double> exponential(double mean, int count = 4096) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(-std::log(1 - (i + 0.5) / count));
  }
  const double scale = mean / bench::mean(values);
  for (double& value : values) {
    value *= scale;
  }
  return values;
}

// Log-normal of cv 1, as exponential().
std::vector<double> lognormal(double mean, int count = 4096) {
  const double sigma = std::sqrt(std::log(2.0));
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    // The normal quantile by bisection of its distribution function.
    double low = -8;
    double high = 8;
    while (high - low > 1e-9) {
      const double middle = (low + high) / 2;
      (std::erfc(-middle / std::sqrt(2.0)) / 2 < (i + 0.5) / count ? low : high) = middle;
    }
    values.push_back(std::exp(sigma * low));
  }
  const double scale = mean / bench::mean(values);
  for (double& value : values) {
    value *= scale;
  }
  return values;
}

// Long-run share of time in each of the states 0 … of a birth and death process.
std::vector<double> steady_state(const std::vector<double>& births, double death) {
  std::vector<double> state{1};
  for (const double birth : births) {
    state.push_back(state.back() * birth / death);
  }
  const double sum = std::accumulate(state.begin(), state.end(), 0.0);
  for (double& part : state) {
    part /= sum;
  }
  return state;
}

TEST(Simulate, WithoutWorkersEverythingIsInTurn) {
  Pipeline pipeline = plain(0, 30 * kMs, 50 * kMs);
  pipeline.copy_ns = 4 * kMs;
  pipeline.gap_ns = 1 * kMs;
  pipeline.batch = 32;
  const Outcome outcome = simulate(pipeline);
  EXPECT_THAT(outcome.step_ns, Each(DoubleNear(85 * kMs, 1)));
  EXPECT_NEAR(outcome.au, 50.0 / 85, 1e-9);
  EXPECT_NEAR(outcome.samples_per_s, 32 / 0.085, 1e-6);
  EXPECT_NEAR(ready_au(pipeline), 50.0 / 51, 1e-9);
}

TEST(Simulate, OneSlowWorkerSetsThePace) {
  const Outcome outcome = simulate(plain(1, 80 * kMs, 50 * kMs));
  EXPECT_THAT(outcome.step_ns, Each(DoubleNear(80 * kMs, 1)));
  EXPECT_NEAR(outcome.au, 50.0 / 80, 1e-9);
  EXPECT_NEAR(outcome.worker_busy, 1, 1e-9);
}

TEST(Simulate, OneFastWorkerFeedsTheConsumer) {
  const Outcome outcome = simulate(plain(1, 20 * kMs, 50 * kMs));
  EXPECT_THAT(outcome.step_ns, Each(DoubleNear(50 * kMs, 1)));
  EXPECT_NEAR(outcome.au, 1, 1e-9);
  EXPECT_NEAR(outcome.worker_busy, 0.4, 1e-3);
  EXPECT_NEAR(outcome.worker_reading, 0, 1e-9);  // the rest of the time it has no free slot
}

TEST(Simulate, CopyIsHiddenOnlyWithLookahead) {
  Pipeline pipeline = plain(1, 20 * kMs, 50 * kMs);
  pipeline.copy_ns = 10 * kMs;
  EXPECT_NEAR(simulate(pipeline).au, 1, 1e-9);
  pipeline.lookahead = false;
  EXPECT_NEAR(simulate(pipeline).au, 50.0 / 60, 1e-9);
  EXPECT_NEAR(ready_au(pipeline), 50.0 / 60, 1e-9);
}

TEST(Simulate, ACopyLongerThanTheComputingSetsThePace) {
  Pipeline pipeline = plain(4, 20 * kMs, 50 * kMs);
  pipeline.copy_ns = 70 * kMs;
  EXPECT_NEAR(simulate(pipeline).au, 50.0 / 70, 1e-9);
  EXPECT_NEAR(ready_au(pipeline), 50.0 / 70, 1e-9);
}

// D/D/1: of fixed times, the slower of both sides, at every worker count.
TEST(Simulate, FixedTimesGiveTheSlowerSide) {
  for (const Order order : {Order::in_order, Order::any}) {
    for (std::int64_t workers = 1; workers <= 12; ++workers) {
      Pipeline pipeline = plain(workers, 200 * kMs, 30 * kMs);
      pipeline.order = order;
      const double step = std::max(30.0, 200.0 / static_cast<double>(workers)) * kMs;
      EXPECT_NEAR(simulate(pipeline).samples_per_s * step / 1e9, 1, 2e-3) << workers;
    }
  }
}

// One worker that works only while there is room, and exponential times: what does not enter an M/M/1/K queue
// is lost, here it waits, and since the exponential has no memory the states are the same. Room for the batch
// that computes, the one on the device (with lookahead), and the slots.
TEST(Simulate, IsMM1K) {
  for (const bool lookahead : {false, true}) {
    for (const double load : {0.6, 1.0, 1.5}) {
      for (const std::int64_t prefetch : {1, 2, 5}) {
        Pipeline pipeline = plain(1, 0, 0);
        pipeline.lookahead = lookahead;
        pipeline.prefetch = prefetch;
        pipeline.batch_work_ns = exponential(kMs / load);
        pipeline.compute_ns = exponential(kMs);
        pipeline.steps = 200'000;
        const auto capacity = static_cast<std::size_t>(prefetch + (lookahead ? 2 : 1));
        const auto state = steady_state(std::vector<double>(capacity, load), 1);
        EXPECT_NEAR(simulate(pipeline).au, 1 - state[0], 0.005)
            << lookahead << ' ' << load << ' ' << prefetch;
      }
    }
  }
}

// Several workers that share cores by a law: births at the law's rate of those that have a slot.
TEST(Simulate, IsABirthAndDeathProcessUnderALaw) {
  Pipeline pipeline = plain(4, 0, 0);
  pipeline.order = Order::any;
  pipeline.prefetch = 1;
  pipeline.law = {.one = 1, .sigma = 0.15, .kappa = 0.02, .oversubscription = 0.1, .cores = 2};
  pipeline.sample_work_ns = exponential(kMs / 0.7);
  pipeline.compute_ns = exponential(kMs);
  pipeline.steps = 200'000;
  std::vector<double> births;
  for (int made = 0; made < 6; ++made) {  // 4 slots, one on the device, one computing
    const double active = std::min(4, 6 - made);
    births.push_back(0.7 * pipeline.law.at(active));
  }
  const auto state = steady_state(births, 1);
  double active = 0;
  for (int made = 0; made < 6; ++made) {
    active += state[static_cast<std::size_t>(made)] * std::min(4, 6 - made);
  }
  const Outcome outcome = simulate(pipeline);
  EXPECT_NEAR(outcome.au, 1 - state[0], 0.005);
  EXPECT_NEAR(outcome.computing_workers, active, 0.02);
}

// A slow batch holds all behind it.
TEST(Simulate, InOrderLosesToHeavyTails) {
  Pipeline pipeline = plain(8, 0, 100 * kMs);
  pipeline.batch_work_ns = lognormal(8 * 100 * kMs / 1.5);
  pipeline.sample_work_ns = pipeline.batch_work_ns;
  pipeline.steps = 20'000;
  EXPECT_NEAR(simulate(pipeline).au, 0.77, 0.02);
  pipeline.order = Order::any;
  EXPECT_GT(simulate(pipeline).au, 0.99);
}

TEST(Simulate, SharedSamplesMakeABatchFaster) {
  // 4 workers on one batch of 8 samples: it is there after two samples' time, and no one waits for a whole
  // one.
  Pipeline pipeline = plain(4, 10 * kMs, 100 * kMs);
  pipeline.order = Order::any;
  pipeline.batch = 8;
  const Outcome outcome = simulate(pipeline);
  EXPECT_NEAR(outcome.samples_per_s, 80, 1e-3);
  EXPECT_NEAR(outcome.worker_busy, 0.2, 1e-3);
}

TEST(Simulate, StorageBandwidthIsSharedAndOccupiesNoCore) {
  // 100 kB a sample at 10 MB/s: 100 samples a second and no more, on one core.
  Pipeline pipeline = plain(8, 10 * 1 * kMs, 1);
  pipeline.batch = 10;
  pipeline.law.cores = 1;
  pipeline.storage = Storage{.bytes_per_s = 10e6, .latency_ns = 0};
  pipeline.sample_bytes_read = 100e3;
  const Outcome outcome = simulate(pipeline);
  EXPECT_NEAR(outcome.samples_per_s, 100, 0.5);
  EXPECT_NEAR(outcome.storage_busy, 1, 0.01);
  EXPECT_NEAR(outcome.computing_workers, 0.1, 0.01);
}

TEST(Simulate, OneWorkerWaitsForEachRead) {
  for (const Order order : {Order::in_order, Order::any}) {
    Pipeline pipeline = plain(1, order == Order::any ? kMs : 4 * kMs, 1);
    pipeline.order = order;
    pipeline.batch = 4;
    pipeline.storage = Storage{.bytes_per_s = 0, .latency_ns = 9 * kMs};
    EXPECT_NEAR(simulate(pipeline).samples_per_s, 100, 0.5);
  }
}

// Latencies overlap, work shares one core: the machine repairman's model, whose states do not depend on how
// latencies are distributed. p(n) ~ N! / (N-n)! (work / latency)^n of N workers compute.
TEST(Simulate, LatenciesOfWorkersOverlap) {
  for (const int workers : {2, 5, 12}) {
    Pipeline pipeline = plain(workers, 0, 1);
    pipeline.order = Order::any;
    pipeline.sample_work_ns = exponential(kMs);
    pipeline.law.cores = 1;
    pipeline.storage = Storage{.bytes_per_s = 0, .latency_ns = 9 * kMs};
    pipeline.steps = 50'000;
    double sum = 0;
    double state = 1;
    for (int n = 0; n <= workers; ++n) {
      sum += state;
      state *= (workers - n) / 9.0;
    }
    EXPECT_NEAR(simulate(pipeline).samples_per_s / (1000 * (1 - 1 / sum)), 1, 0.01) << workers;
  }
}

// Transfers of exponential sizes, first come first served, latencies between them: the machine repairman
// again.
TEST(Simulate, ReadersOfDifferentSizesQueueForStorage) {
  for (const int workers : {1, 3, 8}) {
    Pipeline pipeline = plain(workers, 1, 1);
    pipeline.order = Order::any;
    pipeline.batch = 32;
    pipeline.storage = Storage{.bytes_per_s = 1e9, .latency_ns = 3 * kMs};
    pipeline.sample_bytes_read = 2e6;  // 2 ms
    pipeline.sample_sizes = exponential(1);
    pipeline.steps = 3000;
    double sum = 0;
    double state = 1;
    for (int n = 0; n <= workers; ++n) {
      sum += state;
      state *= (workers - n) * 2.0 / 3.0;
    }
    EXPECT_NEAR(simulate(pipeline).samples_per_s / (500 * (1 - 1 / sum)), 1, 0.01) << workers;
  }
}

TEST(Simulate, ConsumerAndWorkersSlowEachOther) {
  Pipeline pipeline = plain(2, 100 * kMs, 100 * kMs);
  pipeline.shared_cores = {{.active = 2, .consumer_speed = 0.5, .worker_speed = 0.8}};
  // Starved: both workers always work; the consumer computes 200 ms, in which the workers make 3.2 batches.
  const Outcome outcome = simulate(pipeline);
  EXPECT_GT(outcome.compute_ns, 100 * kMs);
  EXPECT_LT(outcome.compute_ns, 200 * kMs);
  EXPECT_NEAR(outcome.au, 1, 1e-6);  // computing all the time, only slower
  EXPECT_LT(outcome.samples_per_s, 10);
}

TEST(Simulate, SeveralConsumersShareTheCores) {
  Pipeline pipeline = plain(2, 100 * kMs, 50 * kMs);
  pipeline.law.cores = 4;
  EXPECT_NEAR(simulate(pipeline).au, 1, 1e-3);
  pipeline.consumers = 4;  // 8 workers on 4 cores: half of what each consumer wants
  const Outcome outcome = simulate(pipeline);
  EXPECT_NEAR(outcome.au, 0.5, 0.01);
  EXPECT_NEAR(outcome.samples_per_s, 40, 0.5);
  EXPECT_EQ(outcome.step_ns.size(), 8000U);
}

TEST(Simulate, TimeAndImagesAreConserved) {
  Pipeline pipeline = plain(3, 0, 0);
  pipeline.batch = 16;
  pipeline.batch_work_ns = exponential(50 * kMs, 200);
  pipeline.compute_ns = exponential(15 * kMs, 200);
  pipeline.copy_ns = 2 * kMs;
  pipeline.timeline_steps = 20;
  const Outcome outcome = simulate(pipeline);
  const double total = std::accumulate(outcome.step_ns.begin(), outcome.step_ns.end(), 0.0);
  EXPECT_NEAR(outcome.samples_per_s * total / 1e9, 2000 * 16, 1e-3);
  EXPECT_NEAR(outcome.compute_ns * 2000 / total, outcome.au, 1e-9);
  // On the consumer's line: computing does not overlap computing, and every batch is copied before it is
  // computed on.
  std::vector<TimelineEntry> computing;
  std::ranges::copy_if(outcome.timeline, std::back_inserter(computing),
                       [](const TimelineEntry& entry) { return entry.what == "compute"; });
  ASSERT_GT(computing.size(), 15U);
  for (std::size_t i = 1; i < computing.size(); ++i) {
    EXPECT_GE(computing[i].from_ns, computing[i - 1].to_ns - 1e-6);
    EXPECT_EQ(computing[i].batch, computing[i - 1].batch + 1);
    const auto copy = std::ranges::find_if(outcome.timeline, [&](const TimelineEntry& entry) {
      return entry.what == "copy" && entry.batch == computing[i].batch;
    });
    ASSERT_NE(copy, outcome.timeline.end());
    EXPECT_LE(copy->to_ns, computing[i].from_ns + 1e-6);
  }
}

TEST(Simulate, MeanWorkIsKeptWhateverItsSpread) {
  Pipeline pipeline = plain(2, 100 * kMs, 1);
  const double even = simulate(pipeline).samples_per_s;
  pipeline.order = Order::any;
  pipeline.sample_work_ns = exponential(100 * kMs, 50);
  pipeline.steps = 5000;
  EXPECT_NEAR(simulate(pipeline).samples_per_s / even, 1, 0.005);
}

TEST(Simulate, TheSameSeedGivesTheSame) {
  Pipeline pipeline = plain(5, 0, 0);
  pipeline.batch_work_ns = exponential(50 * kMs, 300);
  pipeline.compute_ns = exponential(12 * kMs, 300);
  const Outcome one = simulate(pipeline);
  EXPECT_EQ(one.step_ns, simulate(pipeline).step_ns);
  pipeline.seed = 2;
  EXPECT_NE(one.step_ns, simulate(pipeline).step_ns);
}

TEST(Simulate, MoreOfAnythingNeverHurtsWithoutLoss) {
  double last = 0;
  for (std::int64_t workers = 1; workers <= 12; ++workers) {
    Pipeline pipeline = plain(workers, 0, 10 * kMs);
    pipeline.batch_work_ns = exponential(60 * kMs);
    pipeline.steps = 10'000;
    const double au = simulate(pipeline).au;
    EXPECT_GT(au, last - 0.005) << workers;
    last = au;
  }
  last = 0;
  for (std::int64_t prefetch = 1; prefetch <= 8; ++prefetch) {
    Pipeline pipeline = plain(6, 0, 10 * kMs);
    pipeline.batch_work_ns = exponential(60 * kMs);
    pipeline.prefetch = prefetch;
    pipeline.steps = 10'000;
    const double au = simulate(pipeline).au;
    EXPECT_GT(au, last - 0.005) << prefetch;
    last = au;
  }
}

TEST(Simulate, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(simulate(plain(-1, 1, 1)), std::invalid_argument);
  EXPECT_THROW(simulate(plain(1, -1, 1)), std::invalid_argument);
  EXPECT_THROW(simulate(plain(1, 0, 0)), std::invalid_argument);
  Pipeline pipeline = plain(1, 1, 1);
  pipeline.prefetch = 0;
  EXPECT_THROW(simulate(pipeline), std::invalid_argument);
  pipeline = plain(1, 1, 1);
  pipeline.compute_ns.clear();
  EXPECT_THROW(simulate(pipeline), std::invalid_argument);
}

TEST(Simulate, AThousandWorkersEndToo) {
  Pipeline pipeline = plain(1000, 0, kMs);
  pipeline.batch_work_ns = exponential(100 * kMs);
  pipeline.law.cores = 2;
  pipeline.warm_up_steps = 6000;  // until 2000 slots no longer fill
  pipeline.steps = 6000;
  EXPECT_NEAR(simulate(pipeline).samples_per_s, 20, 0.6);
}

}  // namespace
}  // namespace bench::simulator
