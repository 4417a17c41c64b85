// A run of the workers sweep ends within its time budget and one point: with a consumer whose steps take
// seconds of a clock that only they advance.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/registry.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"
#include "tests/sweeps/plain_device.h"
#include "tests/sweeps/workers/loader/jpegs.h"
#include "tests/sweeps/workers/loader/temporary_folder.h"

namespace bench::sweeps {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::Field;

// Sleeping advances it, and asking by a microsecond, so that nothing takes no time. Any thread may ask it.
class SleepersClock final : public Clock {
 public:
  time_point now() const override { return time_point(std::chrono::nanoseconds(now_ns_ += 1000)); }
  void sleep_until(time_point time) const override {
    const std::int64_t end = std::chrono::nanoseconds(time.time_since_epoch()).count();
    std::int64_t known = now_ns_;
    while (known < end && !now_ns_.compare_exchange_weak(known, end)) {
    }
  }

 private:
  mutable std::atomic<std::int64_t> now_ns_ = 0;
};

class NoNetwork : public ConfiguredWorkload {
 public:
  MemoryPlan plan(Device& /*device*/) const override { return {}; }
  std::unique_ptr<Workload> make(Device& /*device*/) const override { return nullptr; }
  std::optional<std::int64_t> image_size() const override { return 16; }
};

class Silent final : public RunObserver {
 public:
  void progress(const RunProgress& /*progress*/) override {}
  void changed(const ResultDocument& /*document*/) override {}
};

class WorkersBudget : public ::testing::Test {
 protected:
  WorkersBudget() {
    for (int i = 0; i < 8; ++i) {
      folder_.write("image" + std::to_string(i) + ".jpg",
                    loader::make_jpeg({}, static_cast<std::uint64_t>(i)));
    }
    network_.name = "net";
    network_.kind = "network";
    network_.modes = {"infer"};
    network_.configure = [](const WorkloadSpec&) { return std::make_shared<NoNetwork>(); };
    request_.workload = &network_;
    request_.modes = {"infer"};
    request_.batches = {2};
    for (const CommandOption& option : registry<SweepType>().find("workers")->options) {
      request_.sweep_options[option.name] = option.default_value;
    }
    request_.sweep_options["data"] = folder_.path().string();
    request_.sweep_options["consumer"] = "2s";
    request_.sweep_options["workers"] = "0,1,2";
  }

  // How long a run with this budget takes, from its preparation to its findings.
  seconds run(seconds budget) {
    const auto sweep = registry<SweepType>().find("workers")->make(request_, device_);
    document_ = {};
    Silent observer;
    SweepStudy study{.request = request_,
                     .plan = sweep->plan(),
                     .device = device_,
                     .document = document_,
                     .report = [](const std::string&) {},
                     .save = [] {},
                     .left_ns = [] { return 0; },
                     .leave_out = [](std::chrono::nanoseconds) {},
                     .interrupted = [] { return false; },
                     .lost = document_.sweep.lost};
    const Clock::time_point start = clock_.now();
    sweep->prepare(study);
    run_points(*sweep, sweep->plan(), device_, clock_,
               {.time_budget = budget,
                .started = start,
                .memory_cap = std::int64_t{1} << 30,
                .rounds = sweep->plan().rounds},
               document_, observer);
    sweep->study(study);
    conclude(*sweep, document_);
    return std::chrono::duration_cast<seconds>(clock_.now() - start);
  }

  loader::TemporaryFolder folder_;
  SleepersClock clock_;
  WorkloadType network_;
  SweepRequest request_{clock_};
  testing::PlainDevice device_;
  ResultDocument document_;
};

TEST_F(WorkersBudget, IsOverrunByOnePointAtMost) {
  // Two workers have four slots: a window of eight steps to warm up, five after the verification, and a
  // window.
  constexpr seconds kPoint((8 + 5 + 8) * 2);
  for (const seconds budget : {seconds(1), seconds(30), seconds(60), seconds(120), seconds(300)}) {
    EXPECT_LE(run(budget), budget + kPoint);
    EXPECT_FALSE(document_.points.empty()) << budget.count();
  }
}

TEST_F(WorkersBudget, CheapPointsAreMeasuredAfterDearOnes) {
  // All that have a consumer take 40 s each; the loader alone takes next to none of this clock.
  run(seconds(170));
  int alone = 0;
  for (const Point& point : document_.points) {
    alone += point.params.at("loader") == "capacity" ? 1 : 0;
  }
  EXPECT_GE(alone, 3);
  EXPECT_THAT(document_.findings, Contains(Field(&Finding::name, "recommended_workers")));
  EXPECT_THAT(document_.findings, Contains(Field(&Finding::name, "simulation_error")));
}

}  // namespace
}  // namespace bench::sweeps
