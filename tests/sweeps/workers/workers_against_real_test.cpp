// The simulator against the real pipeline: threads, staging and a consumer, on images whose reads sleep. What
// they take is so much more than making them that the machine's speed is of little account.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "bench/measure/statistics.h"
#include "sweeps/workers/pipeline.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/what_if.h"
#include "tests/sweeps/plain_device.h"
#include "tests/sweeps/workers/loader/jpegs.h"
#include "tests/sweeps/workers/loader/temporary_folder.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kStepNs = 10'000'000;
constexpr std::int64_t kReadNs = 4'000'000;  // of an image; a batch of three takes 12 ms of one worker

class RealPipeline : public ::testing::Test {
 protected:
  RealPipeline() {
    for (int i = 0; i < 24; ++i) {
      folder_.write("image" + std::to_string(i) + ".jpg",
                    loader::make_jpeg({}, static_cast<std::uint64_t>(i)));
    }
    session_->data_name = folder_.path().string();
    session_->storage = loader::StorageLimit{.bytes_per_s = 1e9, .latency_ns = kReadNs};
    document_.context = {{"host", {{"usable_cores", 2}}}};
    document_.sweep = {{"name", "workers"},
                       {"loader",
                        {{"cores", 2},
                         {"page_cache", "warm"},
                         {"storage", {{"bytes_per_s", 1e9}, {"latency_ns", kReadNs}}},
                         {"mean_encoded_bytes", static_cast<double>(session_->data().encoded_bytes(0))},
                         {"consumer_device", "none"},
                         {"consumer_on_cores", false},
                         {"demands", Json::array()}}}};
  }

  void measure(const std::string& loader, std::int64_t workers, loader::Order order) {
    PipelineSpec spec;
    spec.loader = loader == "ready" ? LoaderKind::ready : LoaderKind::pool;
    spec.transform.image_size = 16;
    spec.pool = {.workers = static_cast<int>(workers), .prefetch = 2, .order = order, .batch = 3};
    spec.step_ns = loader == "capacity" ? 0 : kStepNs;
    const auto workload = make_pipeline(loader, spec, device_, session_);
    workload->timed_step(device_);  // fills the slots
    MeasuredPoint point;
    point.name = loader + std::to_string(workers);
    point.params = {{"loader", loader},
                    {"workers", workers},
                    {"prefetch", 2},
                    {"order", order == loader::Order::any ? "any" : "in-order"},
                    {"batch", 3}};
    point.notes = Json::array();
    for (int window = 0; window < 3; ++window) {
      point.samples_ns.push_back(workload->timed_step(device_));
      point.notes.push_back(workload->notes());
    }
    point.round_sizes = {3};
    point.items_per_step = 3;
    point.stats = summarize(point.samples_ns, point.round_sizes, 1);
    document_.benchmarks.push_back(point);
  }

  loader::TemporaryFolder folder_;
  std::shared_ptr<Session> session_ = std::make_shared<Session>();
  testing::PlainDevice device_;
  ResultDocument document_;
};

TEST_F(RealPipeline, GivesTheAuThatIsSimulated) {
  for (const auto order : {loader::Order::in_order, loader::Order::any}) {
    document_.benchmarks.clear();
    measure("ready", 0, order);
    for (const std::int64_t workers : {1, 2}) {
      measure("capacity", workers, order);
    }
    for (const std::int64_t workers : {0, 1, 2, 4}) {
      measure("pool", workers, order);
    }
    note_simulation(document_);
    const auto simulated = simulated_of(document_);
    ASSERT_TRUE(simulated);
    const LoaderPoints points = loader_points(document_);
    // What follows from the sleeps alone: 10 of 22 ms, 10 of 12, and always.
    const std::map<std::int64_t, double> by_hand{{0, 10.0 / 22}, {1, 10.0 / 12}, {2, 1}, {4, 1}};
    constexpr double kBound = 0.12;  // a sleep ends late, and later on a busy machine
    for (const LoaderPoint& point : points.pool) {
      const auto at = std::ranges::find(simulated->points, point.workers, &SimulatedPoint::workers);
      ASSERT_NE(at, simulated->points.end());
      EXPECT_NEAR(at->au, point.au->value, kBound) << point.workers << " workers, " << point.order;
      EXPECT_NEAR(at->au, by_hand.at(point.workers), kBound) << point.workers << " workers, " << point.order;
    }
  }
}

}  // namespace
}  // namespace bench::sweeps
