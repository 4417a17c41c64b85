// The loader, the copy and the consumer together, on tiny images.
#include "sweeps/workers/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>

#include "bench/error.h"
#include "sweeps/workers/consumer.h"
#include "sweeps/workers/record.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/plain_device.h"
#include "tests/sweeps/workers/loader/jpegs.h"
#include "tests/sweeps/workers/loader/temporary_folder.h"

namespace bench::sweeps {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using testing::PlainDevice;
using ::testing::SizeIs;

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() {
    for (int i = 0; i < 24; ++i) {
      folder_.write("image" + std::to_string(i) + ".jpg",
                    loader::make_jpeg({}, static_cast<std::uint64_t>(i)));
    }
    session_->data_name = folder_.path().string();
    spec_.name = "point";
    spec_.transform.image_size = 16;
    spec_.pool = {.workers = 2, .prefetch = 2, .batch = 3};
  }

  std::unique_ptr<Workload> make() { return ConfiguredPipeline(spec_, session_).make(device_); }
  static Json note_of(const Workload& workload) { return workload.note()->to_json(); }

  loader::TemporaryFolder folder_;
  std::shared_ptr<LoaderSession> session_ = std::make_shared<LoaderSession>(steady_clock());
  PipelineSpec spec_;
  PlainDevice device_;
};

TEST_F(PipelineTest, AWindowSaysWhatItsStepsTook) {
  for (const int workers : {0, 1, 3}) {
    for (const auto order : {loader::Order::in_order, loader::Order::any}) {
      spec_.pool.workers = workers;
      spec_.pool.order = order;
      const auto workload = make();
      EXPECT_GE(workload->timed_step(device_), 0);
      const std::int64_t took = workload->timed_step(device_);
      const Json notes = note_of(*workload);
      const auto batches = static_cast<std::size_t>(window_of(spec_));
      EXPECT_EQ(notes.at("batches"), batches);
      std::int64_t sum = 0;
      for (const Json& step : notes.at("step_ns")) {
        sum += step.get<std::int64_t>();
      }
      EXPECT_EQ(sum, took);  // nothing is lost between two windows
      EXPECT_EQ(notes.at("compute_ns").size(), batches);
      EXPECT_EQ(notes.at("batch_ns").size(), batches);
      EXPECT_EQ(notes.at("images"), 3 * batches);
      EXPECT_GT(notes.at("stages_ns").at("decode"), 0);
      EXPECT_GE(notes.at("host_bytes"), spec_.host_slots() * spec_.slot_bytes());
      EXPECT_EQ(notes.at("bad_files"), 0);
      EXPECT_EQ(workload->work().samples, static_cast<double>(3 * batches));
    }
  }
}

TEST_F(PipelineTest, TheTimeLineIsKeptOnceAPoint) {
  const auto workload = make();
  workload->timed_step(device_);
  EXPECT_FALSE(note_of(*workload).contains("timeline"));
  workload->timed_step(device_);
  const Json first = note_of(*workload);
  ASSERT_TRUE(first.contains("timeline"));
  for (const Json& stretch : first.at("timeline")) {
    EXPECT_LE(stretch.at("from_ns"), stretch.at("to_ns"));
    EXPECT_GE(stretch.at("from_ns"), 0);
  }
  workload->timed_step(device_);
  EXPECT_FALSE(note_of(*workload).contains("timeline"));
  const auto again = make();
  again->timed_step(device_);
  again->timed_step(device_);
  EXPECT_FALSE(note_of(*again).contains("timeline"));
}

// Else a point would have the large images in its windows for good, and another one the small ones.
TEST_F(PipelineTest, EachRepetitionReadsTheImagesInAnotherOrderAndAllPointsInTheSame) {
  spec_.pool = {.workers = 0, .batch = 3};
  const auto first_batch = [&](const std::string& name) {
    device_.uploaded.clear();
    spec_.name = name;
    make()->step();
    return device_.uploaded;
  };
  const auto first = first_batch("point");
  EXPECT_NE(first_batch("point"), first);
  EXPECT_EQ(first_batch("another"), first);
}

TEST_F(PipelineTest, ReadyBatchesAreMadeBeforehand) {
  spec_.loader = LoaderKind::ready;
  const auto workload = make();
  workload->timed_step(device_);
  const Json notes = note_of(*workload);
  EXPECT_EQ(notes.at("images"), 0);
  EXPECT_EQ(device_.uploads, window_of(spec_));
}

TEST_F(PipelineTest, ALimitOfTheBusIsTheLeastThatACopyTakes) {
  constexpr double kCopy = 5e6;  // ns
  spec_.bus_bytes_per_s = static_cast<double>(spec_.slot_bytes()) / kCopy * 1e9;
  spec_.loader = LoaderKind::ready;
  const auto workload = make();
  workload->timed_step(device_);
  EXPECT_GE(static_cast<double>(workload->timed_step(device_)),
            static_cast<double>(window_of(spec_)) * kCopy);
}

// While the answer is checked the worker fills its slots. It makes a batch in no less than 12 ms, the
// consumer takes 8.
TEST_F(PipelineTest, AWindowBeginsWithoutBatchesThatAPauseMade) {
  session_->storage = loader::Storage{.bytes_per_s = 1e12, .latency_ns = 4e6};
  spec_.pool = {.workers = 1, .prefetch = 8, .batch = 3};
  spec_.step_ns = 8'000'000;
  const auto workload = make();
  workload->verify();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  workload->verify();
  const double took = static_cast<double>(workload->timed_step(device_));
  EXPECT_GE(took, 0.9 * 12e6 * static_cast<double>(window_of(spec_)));
}

TEST_F(PipelineTest, BatchesAreComparedWithTheReference) {
  for (const auto element :
       {loader::Element::fp32, loader::Element::fp16, loader::Element::bf16, loader::Element::uint8}) {
    for (const auto layout : {loader::ImageLayout::nhwc, loader::ImageLayout::nchw}) {
      spec_.transform.element = element;
      spec_.transform.layout = layout;
      const Verification verification = make()->verify();
      EXPECT_TRUE(verification.passed) << verification.detail;
      EXPECT_THAT(verification.detail, HasSubstr("byte for byte"));
      EXPECT_LT(verification.error, verification.tolerance);
    }
  }
}

TEST_F(PipelineTest, MoreHostMemoryThanIsFreeIsRefusedBeforeItIsTaken) {
  spec_.transform.image_size = 4096;
  spec_.pool = {.workers = 64, .prefetch = 64, .batch = 64};  // 50 TiB
  EXPECT_THAT([&] { make(); }, ::testing::ThrowsMessage<OutOfMemory>(HasSubstr("of host memory, and")));
}

TEST_F(PipelineTest, ADataSetOfNothingIsRefused) {
  const loader::TemporaryFolder empty;
  session_->data_name = empty.path().string();
  EXPECT_THROW(make(), UsageError);
}

TEST(TimedConsumer, TakesItsTime) {
  const bench::testing::ManualClock clock;
  const auto consumer = timed_consumer(3'000'000'000, clock);
  const Clock::time_point start = clock.now();
  consumer->start();
  EXPECT_EQ(consumer->finish(), 3'000'000'000);
  EXPECT_EQ(clock.now() - start, std::chrono::seconds(3));
}

TEST(TimedConsumer, AStepThatEndedBeforeItWasAskedForTookNoLonger) {
  bench::testing::ManualClock clock;
  const auto consumer = timed_consumer(3'000'000, clock);
  consumer->start();
  clock.advance(std::chrono::seconds(1));
  const Clock::time_point asked = clock.now();
  EXPECT_EQ(consumer->finish(), 3'000'000);
  EXPECT_EQ(clock.now(), asked);
}

// Which threads make a workload and run its steps, and what fails there.
struct Seen {
  std::thread::id made;
  std::thread::id stepped;
  std::atomic<int> steps = 0;
  bool fails = false;
  std::function<void()> verifies = [] {};
};

class Watched final : public Workload {
 public:
  explicit Watched(Seen& seen) : seen_(seen) { seen_.made = std::this_thread::get_id(); }
  void step() override {
    seen_.stepped = std::this_thread::get_id();
    if (seen_.fails) {
      throw std::runtime_error("the step failed");
    }
    ++seen_.steps;
  }
  Verification verify() override {
    seen_.verifies();
    return {.passed = false, .error = 1, .tolerance = 0.5, .detail = "never right"};
  }
  Work work() const override { return {}; }

 private:
  Seen& seen_;
};

class ConfiguredWatched final : public ConfiguredWorkload {
 public:
  explicit ConfiguredWatched(Seen& seen) : seen_(seen) {}
  MemoryPlan plan(Device& /*device*/) const override { return {}; }
  std::unique_ptr<Workload> make(Device& /*device*/) const override {
    return std::make_unique<Watched>(seen_);
  }

 private:
  Seen& seen_;
};

class WorkloadConsumerTest : public PipelineTest {
 protected:
  WorkloadConsumerTest() {
    spec_.workload_name = "watched";
    spec_.workload = std::make_shared<ConfiguredWatched>(seen_);
  }
  Seen seen_;
};

TEST_F(WorkloadConsumerTest, StepsInTheThreadThatMadeIt) {
  const auto workload = make();
  workload->timed_step(device_);
  workload->timed_step(device_);
  const Json notes = note_of(*workload);
  EXPECT_THAT(notes.at("compute_ns").get<std::vector<int>>(), Each(Ge(1'000'000)));
  EXPECT_EQ(seen_.made, seen_.stepped);
  EXPECT_NE(seen_.made, std::this_thread::get_id());
  EXPECT_GE(seen_.steps, 2 * window_of(spec_) - 1);
}

TEST_F(WorkloadConsumerTest, AWindowHasNoVerificationInIt) {
  for (const auto loader : {LoaderKind::ready, LoaderKind::pool}) {
    bench::testing::ManualClock clock;
    session_ = std::make_shared<LoaderSession>(clock);
    session_->data_name = folder_.path().string();
    spec_.loader = loader;
    spec_.pool.workers = 0;
    seen_.verifies = [&] { clock.advance(std::chrono::seconds(10)); };
    const auto workload = make();
    workload->timed_step(device_);
    workload->verify();
    EXPECT_LT(workload->timed_step(device_), 1'000'000'000);
    EXPECT_THAT(note_of(*workload).at("step_ns").get<std::vector<int>>(), SizeIs(window_of(spec_)));
  }
}

TEST_F(WorkloadConsumerTest, ItsFailureReachesTheRun) {
  seen_.fails = true;
  const auto workload = make();
  EXPECT_THROW(workload->timed_step(device_), std::runtime_error);
}

TEST_F(WorkloadConsumerTest, ItsWrongAnswerIsAWrongAnswer) {
  const Verification verification = make()->verify();
  EXPECT_FALSE(verification.passed);
  EXPECT_THAT(verification.detail, HasSubstr("watched: never right"));
}

}  // namespace
}  // namespace bench::sweeps
