// Training steps that several ranks do together, on threads of one process.
#include "kernels/workloads/network/parallel_train.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "../networks_fixture.h"
#include "../tiny_networks.h"
#include "kernels/networks/program/input.h"
#include "kernels/operations/tensor.h"
#include "kernels/workloads/network/train.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"

namespace bench::kernels {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSmallBucket = 4 * 1024;

NetworkPoint point_of(const NetworkType& network, int ranks, std::int64_t batch, std::int64_t accumulate = 1,
                      const std::string& optimizer = "sgd") {
  WorkloadSpec spec;
  spec.mode = "train";
  spec.batch = batch;
  spec.seed = 5;
  spec.ranks = ranks;
  spec.options = {{"accumulate", std::to_string(accumulate)}, {"optimizer", optimizer}};
  return read_point(network, spec);
}

std::unique_ptr<Device> cpu() {
  return registry<DeviceKind>().find("cpu")->open("cpu");
}

std::vector<std::vector<float>> gradients_of(Trainer& trainer) {
  std::vector<std::vector<float>> all;
  for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
    all.push_back(trainer.gradient(i));
  }
  return all;
}

// Neither has batch norms, which normalise over a rank's own samples.
TEST(ParallelTraining, RanksHaveTheGradientsOfOneWithAllSamples) {
  for (const char* name : {"gpt", "classifier"}) {
    for (const int ranks : {2, 4}) {
      for (const std::int64_t bucket : {kSmallBucket, std::int64_t{1} << 30}) {
        SCOPED_TRACE(std::string(name) + " " + std::to_string(ranks) + " " + std::to_string(bucket));
        const auto device = cpu();
        Trainer whole(plan_training(point_of(tiny_network(name), 1, 8 * ranks), *device), *device, 5);
        set_seeded_batch(whole, 5, 0, static_cast<std::uint64_t>(ranks));
        whole.run_gradients();
        const auto expected = gradients_of(whole);
        testing::run_ranks(ranks, [&](RankGroup& group) {
          const auto own = cpu();
          ParallelTrainWorkload part(point_of(tiny_network(name), ranks, 8), bucket, group, *own);
          EXPECT_EQ(part.buckets() > 1, bucket == kSmallBucket);
          part.run_gradients();
          const auto found = gradients_of(part.runner());
          for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_LT(relative_error(found[i], expected[i]), 1e-5) << i;
          }
          const Verification verified = part.verify();
          EXPECT_TRUE(verified.passed) << verified.error << verified.detail;
        });
      }
    }
  }
}

// Also with the momentum of earlier steps, and with gradients of several micro-batches.
TEST(ParallelTraining, RanksKeepTheSameParametersAndRepeatTheSameBits) {
  std::mutex mutex;
  std::vector<std::vector<float>> all;
  for (int repeat = 0; repeat < 2; ++repeat) {
    testing::run_ranks(3, [&](RankGroup& group) {
      const auto device = cpu();
      ParallelTrainWorkload part(point_of(tiny_gpt(), 3, 8, 2, "momentum"), kSmallBucket, group, *device);
      for (int step = 0; step < 3; ++step) {
        part.step();
        EXPECT_GE(part.waited_ns(), 0);
      }
      std::vector<float> parameters;
      for (std::size_t i = 0; i < part.runner().plan().parameters.size(); ++i) {
        const auto one = part.runner().parameter(i);
        parameters.insert(parameters.end(), one.begin(), one.end());
      }
      const std::lock_guard lock(mutex);
      all.push_back(std::move(parameters));
    });
  }
  ASSERT_EQ(all.size(), 6U);
  for (const std::vector<float>& parameters : all) {
    EXPECT_EQ(parameters, all.front());
  }
}

TEST(ParallelTraining, TheMemoryIsThatPlanned) {
  testing::run_ranks(2, [](RankGroup& group) {
    const auto device = cpu();
    const NetworkPoint point = point_of(tiny_gpt(), 2, 8);
    const std::int64_t planned = plan_training(point, *device).memory().peak;
    device->memory().reset_peak();
    const ParallelTrainWorkload part(point, kSmallBucket, group, *device);
    EXPECT_EQ(device->memory().peak(), planned);
  });
}

std::vector<std::vector<float>> parameters_of(Trainer& trainer) {
  std::vector<std::vector<float>> all;
  for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
    all.push_back(trainer.parameter(i));
  }
  return all;
}

NetworkPoint sharing_point(int ranks, const char* optimizer, std::int64_t bucket) {
  NetworkPoint point = point_of(tiny_gpt(), ranks, 8, 1, optimizer);
  point.training.shared_slice = bucket;
  return point;
}

// Three ranks leave a rest of each bucket, which all of them update.
TEST(SharedOptimizer, RanksHaveTheParametersOfThoseThatUpdateEverything) {
  constexpr int kSteps = 3;
  for (const char* optimizer : {"sgd", "momentum", "adam"}) {
    for (const int ranks : {2, 3}) {
      for (const std::int64_t bucket : {std::int64_t{1}, kSmallBucket, std::int64_t{1} << 30}) {
        SCOPED_TRACE(std::string(optimizer) + " " + std::to_string(ranks) + " " + std::to_string(bucket));
        testing::run_ranks(ranks, [&](RankGroup& group) {
          const auto device = cpu();
          ParallelTrainWorkload whole(point_of(tiny_gpt(), ranks, 8, 1, optimizer), bucket, group, *device);
          ParallelTrainWorkload part(sharing_point(ranks, optimizer, bucket), bucket, group, *device);
          const Verification verified = part.verify();
          EXPECT_TRUE(verified.passed) << verified.error << verified.detail;
          for (int step = 0; step < kSteps; ++step) {
            whole.step();
            part.step();
          }
          const auto expected = parameters_of(whole.runner());
          const auto found = parameters_of(part.runner());
          for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_LT(relative_error(found[i], expected[i]), 1e-5) << i;
          }
        });
      }
    }
  }
}

TEST(SharedOptimizer, TheMemoryIsThatPlannedWithAShareOfTheState) {
  const auto device = cpu();
  const std::int64_t state = plan_training(point_of(tiny_gpt(), 2, 8, 1, "adam"), *device)
                                 .memory()
                                 .at_peak[MemoryCategory::optimizer];
  testing::run_ranks(2, [&](RankGroup& group) {
    const auto own = cpu();
    const NetworkPoint point = sharing_point(2, "adam", kSmallBucket);
    const MemoryPlan planned = plan_training(point, *own).memory();
    EXPECT_NEAR(static_cast<double>(planned.at_peak[MemoryCategory::optimizer]),
                static_cast<double>(state) / 2, 0.05 * static_cast<double>(state));
    own->memory().reset_peak();
    const ParallelTrainWorkload part(point, kSmallBucket, group, *own);
    EXPECT_EQ(own->memory().peak(), planned.peak);
  });
}

// One rank gathers parameters with a wrong value.
class WrongGather final : public testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  std::unique_ptr<PendingCollective> start(const Collective& collective) override {
    auto pending = PassingRanks::start(collective);
    if (collective.kind == CollectiveKind::all_gather && rank() == 1) {
      *static_cast<float*>(collective.to) += 1;
    }
    return pending;
  }
};

TEST(SharedOptimizer, AWrongGatherIsFound) {
  testing::run_ranks(2, [](RankGroup& right) {
    WrongGather group(right);
    const auto device = cpu();
    ParallelTrainWorkload part(sharing_point(2, "adam", kSmallBucket), kSmallBucket, group, *device);
    const Verification verified = part.verify();
    EXPECT_TRUE(verified.failed());
    EXPECT_THAT(verified.detail, HasSubstr("different parameters"));
  });
}

// A value of one rank's second reduction is wrong there.
class WrongBucket final : public testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  std::unique_ptr<PendingCollective> start(const Collective& collective) override {
    auto pending = PassingRanks::start(collective);
    if (++started_ == 2 && rank() == 1) {
      static_cast<float*>(collective.to)[1] += 1;
    }
    return pending;
  }

 private:
  int started_ = 0;
};

TEST(ParallelTraining, AWrongSumIsFound) {
  testing::run_ranks(2, [](RankGroup& right) {
    WrongBucket group(right);
    const auto device = cpu();
    ParallelTrainWorkload part(point_of(tiny_gpt(), 2, 8), kSmallBucket, group, *device);
    const Verification verified = part.verify();
    EXPECT_TRUE(verified.failed());  // on the other rank too: their bits differ
    EXPECT_THAT(verified.detail, HasSubstr("different sums"));
  });
}

TEST(GradientTimeline, HoldsAllGradientsOfTheLastMicroBatchInOrder) {
  const auto device = cpu();
  for (const std::int64_t accumulate : {1, 4}) {
    TrainWorkload workload(point_of(tiny_gpt(), 1, 8, accumulate), std::make_shared<GradientReference>(),
                           *device);
    const auto timeline = workload.gradient_timeline();
    ASSERT_TRUE(timeline.has_value());
    const ProgramPlan& plan = workload.runner().plan();
    std::int64_t bytes = 0;
    double last = 0;
    for (const GradientTimeline::Part& part : timeline->parts) {
      EXPECT_GE(part.ready_ns, last);
      last = part.ready_ns;
      bytes += part.bytes;
    }
    EXPECT_EQ(bytes, plan.memory().at_peak[MemoryCategory::gradients]);
    EXPECT_GT(timeline->parts.size(), 4U);
    EXPECT_LE(last, timeline->backward_ns);
    // Nothing is ready before the last micro-batch's backward pass has begun.
    EXPECT_GT(timeline->parts.front().ready_ns, timeline->backward_ns * static_cast<double>(accumulate - 1) /
                                                    static_cast<double>(accumulate) / 2);
  }
}

TEST(ParallelTraining, OtherDtypesAreUnsupported) {
  testing::run_ranks(2, [](RankGroup& group) {
    const auto device = cpu();
    NetworkPoint point = point_of(tiny_gpt(), 2, 8);
    point.dtype = Dtype::bf16;
    EXPECT_THROW(ParallelTrainWorkload(point, kSmallBucket, group, *device), Unsupported);
  });
}

}  // namespace
}  // namespace bench::kernels
