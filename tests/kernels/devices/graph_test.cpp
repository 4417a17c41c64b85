// Steps recorded as graphs.
#include "kernels/devices/cuda/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/kernels/devices/cuda_device_fixture.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::ElementsAre;

TEST_F(CudaDeviceTest, ReplaysWhatItRecorded) {
  int runs = 0;
  std::unique_ptr<RecordedStep> step;
  EXPECT_THAT(calls_of([&] { step = device_.record([&] { ++runs; }); }),
              ElementsAre("set_device", "synchronize", "begin_capture", "end_capture", "instantiate",
                          "destroy_graph"));
  EXPECT_EQ(runs, 2);  // once in earnest, once for the recording
  EXPECT_THAT(calls_of([&] { step->replay(); }), ElementsAre("launch"));
  EXPECT_EQ(runs, 2);
}

TEST_F(CudaDeviceTest, ARecordingThatFindsNoMemoryGetsTheKeptSegments) {
  device_.allocate(8 << 20, MemoryCategory::activations);
  runtime_.fail("instantiate", status::kMemoryAllocation);
  const std::int64_t before = runtime_.handles;
  const std::unique_ptr<RecordedStep> step = device_.record([] {});
  EXPECT_NE(step, nullptr);
  EXPECT_EQ(runtime_.times("instantiate"), 2);
  EXPECT_EQ(runtime_.reserved, 0);
  EXPECT_EQ(runtime_.handles, before + 1);
}

TEST_F(CudaDeviceTest, ARecordedStepGivesBackWhatItWasMadeOf) {
  const std::int64_t before = runtime_.handles;
  std::unique_ptr<RecordedStep> step = device_.record([] {});
  EXPECT_EQ(runtime_.handles, before + 1) << "the executable; the graph it was made of is gone";
  step.reset();
  EXPECT_EQ(runtime_.handles, before);
}

TEST_F(CudaDeviceTest, AStepThatThrowsEndsTheRecording) {
  const std::int64_t before = runtime_.handles;
  int runs = 0;
  const auto fails_when_recorded = [&] {
    if (++runs == 2) {
      throw Unsupported("it waits for the card");
    }
  };
  EXPECT_THROW(device_.record(fails_when_recorded), Unsupported);
  EXPECT_EQ(runtime_.times("end_capture"), 1);
  EXPECT_EQ(runtime_.handles, before);
}

}  // namespace
}  // namespace bench::kernels::cuda
