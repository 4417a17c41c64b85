// The simulator against the real pipeline: threads, staging and a consumer, on images whose reads sleep, by a
// clock on which nothing else takes time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/stats/statistics.h"
#include "sweeps/workers/pipeline.h"
#include "tests/bench/support/idle_clock.h"
#include "tests/sweeps/plain_device.h"
#include "tests/sweeps/workers/loader/jpegs.h"
#include "tests/sweeps/workers/loader/temporary_folder.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kStepNs = 20'000'000;
constexpr std::int64_t kReadNs = 8'000'000;  // of an image; a batch of three takes 24 ms of one worker

class RealPipeline : public ::testing::Test {
 protected:
  RealPipeline() {
    for (int i = 0; i < 24; ++i) {
      folder_.write("image" + std::to_string(i) + ".jpg",
                    loader::make_jpeg({}, static_cast<std::uint64_t>(i)));
    }
    session_->data_name = folder_.path().string();
    session_->storage = loader::Storage{.bytes_per_s = 1e9, .latency_ns = kReadNs};
    setup_ = {.cores = 2,
              .storage = session_->storage,
              .found = DataFound{.mean_encoded_bytes = static_cast<double>(session_->data().encoded_bytes(0)),
                                 .from_storage = 0}};
  }

  void measure(const std::string& loader, std::int64_t workers, loader::Order order) {
    PipelineSpec spec;
    spec.loader = loader == "ready" ? LoaderKind::ready : LoaderKind::pool;
    spec.transform.image_size = 16;
    spec.pool = {.workers = static_cast<int>(workers), .prefetch = 2, .order = order, .batch = 3};
    spec.step_ns = loader == "capacity" ? 0 : kStepNs;
    spec.name = loader;
    const auto workload = ConfiguredPipeline(spec, session_).make(device_);
    workload->timed_step(device_);  // fills the slots
    Point point;
    point.name = loader + std::to_string(workers);
    point.params = {{"loader", loader},
                    {"workers", workers},
                    {"prefetch", 2},
                    {"order", order == loader::Order::any ? "any" : "in-order"},
                    {"batch", 3}};
    for (int window = 0; window < 2; ++window) {
      point.samples_ns.push_back(workload->timed_step(device_));
      point.notes.push_back(workload->note());
    }
    point.rounds = rounds_of({2});
    point.items_per_step = 3;
    point.stats = summarize(point.samples_ns, round_sizes(point));
    measured_.push_back(point);
  }

  // How far the simulated AU lies from the measured one and from what follows from the sleeps alone, at
  // worst.
  double worst_error(loader::Order order) {
    measured_.clear();
    measure("ready", 0, order);
    for (const std::int64_t workers : {1, 2}) {
      measure("capacity", workers, order);
    }
    // One thread takes 20 of 44 ms, one worker leaves 20 of 24.
    const std::map<std::int64_t, double> by_hand{{0, 20.0 / 44}, {1, 20.0 / 24}, {2, 1}, {3, 1}};
    for (const auto& [workers, au] : by_hand) {
      measure("pool", workers, order);
    }
    const Evidence evidence = testing::evidence_of(measured_, setup_);
    if (!evidence.simulated) {
      return 1;
    }
    double worst = 0;
    EXPECT_EQ(evidence.points.pool.size(), by_hand.size());
    for (const LoaderPoint& point : evidence.points.pool) {
      const double simulated = evidence.simulated_at(point.workers)->au;
      worst = std::max(
          {worst, std::abs(simulated - point.au->value), std::abs(simulated - by_hand.at(point.workers))});
    }
    return worst;
  }

  loader::TemporaryFolder folder_;
  bench::testing::IdleClock clock_;
  std::shared_ptr<LoaderSession> session_ = std::make_shared<LoaderSession>(clock_);
  testing::PlainDevice device_;
  LoaderSetup setup_;
  std::vector<Point> measured_;
};

TEST_F(RealPipeline, GivesTheAuThatIsSimulated) {
  for (const auto order : {loader::Order::in_order, loader::Order::any}) {
    EXPECT_LT(worst_error(order), 0.01) << (order == loader::Order::any ? "any" : "in-order");
  }
}

}  // namespace
}  // namespace bench::sweeps
