// Collectives, buckets and the shared optimizer on more ranks than there are machines for.
#include "tests/simulated/ranks.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/device.h"
#include "bench/model/parallel_step.h"
#include "bench/registry.h"
#include "kernels/workloads/network/parallel_train.h"
#include "sweeps/collectives/exchange.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/kernels/networks/tiny_networks.h"

namespace bench::testing {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

const Link kEthernet{.id = "", .name = "", .hop_ns = 18'000, .bytes_per_s = 1.17e9, .source = ""};

int ranks_of_test() {
  const char* const given = std::getenv("BENCH_SIMULATED_RANKS");
  return given == nullptr ? 64 : std::stoi(given);
}

// SimGrid's non-blocking collectives give wrong sums where they are in place.
class BlockingRanks final : public PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  std::unique_ptr<PendingCollective> start(const Collective& collective) override {
    run(collective);
    return std::make_unique<Done>();
  }

 private:
  struct Done final : PendingCollective {
    void poll() override {}
    void wait() override {}
  };
};

std::unique_ptr<Device> cpu() {
  return registry<DeviceKind>().find("cpu")->open("cpu");
}

void collectives_are_right(int ranks) {
  using sweeps::Operation;
  int tried = 0;
  simulate_ranks(ranks, kEthernet, AllReduce::doubling, [&](RankGroup& group, const Clock& clock) {
    const auto device = cpu();
    for (const Operation operation : sweeps::kOperations) {
      for (const std::int64_t bytes : {std::int64_t{4} * ranks, std::int64_t{1024} * ranks}) {
        const sweeps::CollectiveParams params{
            .operation = operation, .bytes = bytes, .ranks = ranks, .hosts = ranks, .peer = ranks - 1};
        sweeps::Exchange exchange(params, kSeed, group, *device, clock);
        EXPECT_EQ(exchange.verify().front(), 0) << name_of(operation) << " " << bytes << " " << group.rank();
        ++tried;
      }
    }
  });
  EXPECT_EQ(tried, 8 * ranks);
}

void a_ring_takes_what_is_predicted(int ranks) {
  simulate_ranks(ranks, kEthernet, AllReduce::ring, [&](RankGroup& group, const Clock& clock) {
    const auto device = cpu();
    for (const std::int64_t bytes : {kMiB / 4, kMiB}) {
      const sweeps::CollectiveParams params{.operation = sweeps::Operation::all_reduce,
                                            .bytes = bytes,
                                            .ranks = ranks,
                                            .hosts = ranks,
                                            .peer = 1};
      sweeps::Exchange exchange(params, kSeed, group, *device, clock);
      const double ns = exchange.run(1).front();
      if (group.rank() == 0) {
        const double predicted = ring_all_reduce_ns({.inside = kEthernet}, ranks, static_cast<double>(bytes));
        EXPECT_NEAR(ns / predicted, 1, 0.1) << bytes << " bytes: " << ns << " and " << predicted << " ns";
      }
    }
  });
}

// The parameters after a step are the same on every rank, and the sums are those of whole gradients.
void training_is_right(int ranks, bool shares_optimizer) {
  int tried = 0;
  simulate_ranks(ranks, kEthernet, AllReduce::doubling, [&](RankGroup& group, const Clock& /*clock*/) {
    const auto device = cpu();
    WorkloadSpec spec;
    spec.mode = "train";
    spec.batch = 1;
    spec.seed = kSeed;
    spec.ranks = ranks;
    spec.options = {{"optimizer", "adam"}};
    kernels::NetworkPoint point = read_point(kernels::tiny_classifier(), spec);
    constexpr std::int64_t kBucket = 4096;
    point.training.shared_slice = shares_optimizer ? kBucket : 0;
    BlockingRanks blocking(group);
    kernels::ParallelTrainWorkload part(point, kBucket, blocking, *device);
    EXPECT_GT(part.buckets(), 1U);
    const Verification verified = part.verify();
    EXPECT_TRUE(verified.passed) << group.rank() << ": " << verified.error << " " << verified.detail;
    ++tried;
  });
  EXPECT_EQ(tried, ranks);
}

// In a process of its own: SMPI keeps its communicators after a simulation, and the next one in the same
// process is refused them.
void simulated(void (*test)(int ranks)) {
  const auto run = [&] {
    test(ranks_of_test());
    std::fflush(nullptr);
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST(SimulatedRanks, CollectivesAreRight) {
  simulated(collectives_are_right);
}
TEST(SimulatedRanks, ARingTakesWhatIsPredicted) {
  simulated(a_ring_takes_what_is_predicted);
}
TEST(SimulatedRanks, GradientsAreAddedUpInBuckets) {
  simulated([](int ranks) { training_is_right(ranks, false); });
}
TEST(SimulatedRanks, RanksShareTheOptimizer) {
  simulated([](int ranks) { training_is_right(ranks, true); });
}

}  // namespace
}  // namespace bench::testing
