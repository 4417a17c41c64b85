// Steps that are recorded once and replayed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "bench/error.h"
#include "kernels/devices/cpu/memory.h"
#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/train.h"
#include "networks_fixture.h"
#include "tests/bench/support/golden_words.h"
#include "tiny_networks.h"

namespace bench::kernels {
namespace {

// The CPU, whose steps can be recorded: a replay calls the step again.
class RecordingCpu final : public Device {
 public:
  const DeviceInfo& info() const override { return cpu_->info(); }
  std::optional<std::string> unsupported(Dtype dtype) const override { return cpu_->unsupported(dtype); }
  void upload(void* to, const void* from, std::int64_t bytes) override { cpu_->upload(to, from, bytes); }
  void download(void* to, const void* from, std::int64_t bytes) override { cpu_->download(to, from, bytes); }
  void fill(void* to, std::byte value, std::int64_t bytes) override { cpu_->fill(to, value, bytes); }
  bool host_accessible() const override { return true; }
  void synchronize() override { cpu_->synchronize(); }
  std::int64_t time(const std::function<void()>& step) override { return cpu_->time(step); }
  std::int64_t driver_used() const override { return cpu_->driver_used(); }
  DeviceState state() const override { return {}; }
  Peaks peaks(Dtype /*dtype*/) override { return {}; }

  std::optional<std::string> cannot_record() const override { return std::nullopt; }
  std::unique_ptr<RecordedStep> record(const std::function<void()>& step) override {
    step();
    return std::make_unique<Replay>(*this, step);
  }

  int replays = 0;
  bool forgets = false;  // a broken recording, which does nothing

 protected:
  std::byte* raw_allocate(std::int64_t bytes) override { return cpu_allocate(bytes); }
  void raw_free(std::byte* data, std::int64_t bytes) noexcept override { cpu_free(data, bytes); }

 private:
  class Replay final : public RecordedStep {
   public:
    Replay(RecordingCpu& device, std::function<void()> step) : device_(device), step_(std::move(step)) {}
    void replay() override {
      ++device_.replays;
      if (!device_.forgets) {
        step_();
      }
    }

   private:
    RecordingCpu& device_;
    std::function<void()> step_;
  };

  std::unique_ptr<Device> cpu_ = registry<DeviceKind>().find("cpu")->open("cpu");
};

class LaunchTest : public NetworkTest {
 protected:
  static WorkloadSpec launched(const std::string& mode, const std::string& launch) {
    WorkloadSpec wanted;
    wanted.mode = mode;
    wanted.batch = 2;
    wanted.options["launch"] = launch;
    return wanted;
  }
  static WorkloadType type() { return network_workload(tiny_classifier()); }

  RecordingCpu recorder_;
};

TEST_F(LaunchTest, IsAnOptionOfEveryMode) {
  const WorkloadType classifier = type();
  const auto option = std::ranges::find(classifier.options, "launch", &CommandOption::name);
  ASSERT_NE(option, classifier.options.end());
  EXPECT_EQ(option->default_value, "stream");
  EXPECT_EQ(option->mode, "");
}

TEST_F(LaunchTest, RefusesOtherWords) {
  try {
    type().configure(launched("infer", "Graph"));
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    expect_words(error.what());
  }
}

TEST_F(LaunchTest, ACpuHasNoGraphsAndSaysSo) {
  EXPECT_EQ(type().configure(launched("infer", "stream"))->unsupported(*device_), std::nullopt);
  const auto reason = type().configure(launched("infer", "graph"))->unsupported(*device_);
  ASSERT_TRUE(reason);
  expect_words(*reason);
  EXPECT_THROW(type().configure(launched("infer", "graph"))->make(*device_), Unsupported);
  EXPECT_EQ(type().configure(launched("infer", "graph"))->unsupported(recorder_), std::nullopt);
}

TEST_F(LaunchTest, StepsAreReplayedAndTheirAnswersVerified) {
  for (const char* mode : {"infer", "train"}) {
    recorder_.replays = 0;
    recorder_.forgets = false;
    const auto workload = type().configure(launched(mode, "graph"))->make(recorder_);
    EXPECT_EQ(recorder_.replays, 0) << mode;
    workload->step();
    EXPECT_EQ(recorder_.replays, 1) << mode;
    const Verification right = workload->verify();
    EXPECT_TRUE(right.passed) << mode << ": " << right.detail;
    EXPECT_GT(recorder_.replays, 1) << mode << ": what is verified is what is timed";
    recorder_.forgets = true;
    const Verification wrong = workload->verify();
    EXPECT_FALSE(wrong.passed) << mode << ": a recording that does nothing";
    EXPECT_GT(wrong.error, wrong.tolerance) << mode;
  }
}

TEST_F(LaunchTest, StreamRecordsNothing) {
  const auto workload = type().configure(launched("infer", "stream"))->make(recorder_);
  workload->step();
  EXPECT_EQ(recorder_.replays, 0);
}

}  // namespace
}  // namespace bench::kernels
