#include "kernels/device/cuda/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "kernels/device/cuda/library.h"
#include "kernels/device/cuda/stream.h"
#include "tests/kernels/device/fake_runtime.h"
#include "tests/kernels/device/sizes.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CudaDeviceTest : public ::testing::Test {
 protected:
  // The calls that `action` makes.
  template <class Action>
  std::vector<std::string> calls_of(Action action) {
    runtime_.calls.clear();
    action();
    return runtime_.calls;
  }
  // What the device says when it is asked for memory.
  template <class Error>
  std::string refusal(std::int64_t bytes) {
    try {
      device_.allocate(bytes, MemoryCategory::activations);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  testing::FakeRuntime runtime_;
  CudaDevice device_{testing::fake_backend(runtime_), 0};
};

TEST_F(CudaDeviceTest, DescribesTheCard) {
  const DeviceInfo& info = device_.info();
  EXPECT_EQ(info.id, "cuda:0");
  EXPECT_EQ(info.kind, "cuda");
  EXPECT_EQ(info.name, "Test Card");
  EXPECT_EQ(info.compute_units, 28);
  EXPECT_EQ(info.memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(info.details.at("compute_capability"), "8.6");
  EXPECT_EQ(info.details.at("cuda"), "13.0");
  EXPECT_EQ(info.details.at("cudnn"), "9.19.0");
  EXPECT_EQ(info.details.at("driver"), "580.82.07");
  EXPECT_EQ(info.details.at("power_limit_w"), "170");
  EXPECT_EQ(compute_capability(device_), 86);
  EXPECT_EQ(stream_of(device_), device_.stream());
}

TEST_F(CudaDeviceTest, AsksForTheLinkWhileCopiesAreUnderWayUntilItIsAwake) {
  EXPECT_EQ(device_.info().details.at("pcie"), "gen4 x16");  // the first readings said gen1
  EXPECT_EQ(device_.info().details.at("pcie_best"), "gen4 x16");
  EXPECT_EQ(runtime_.times("copy"), 3);
  EXPECT_EQ(runtime_.reserved, 0) << "what the copies needed is given back";
  EXPECT_EQ(runtime_.pinned, 0);
}

TEST_F(CudaDeviceTest, KnowsWhichDtypesTheCardHas) {
  testing::FakeRuntime runtime;
  runtime.cards[0].major = 7;
  runtime.cards[0].minor = 5;
  const CudaDevice t4(testing::fake_backend(runtime), 0);
  for (const Dtype dtype : kAllDtypes) {
    EXPECT_FALSE(device_.unsupported(dtype)) << name_of(dtype);
  }
  EXPECT_FALSE(t4.unsupported(Dtype::fp32));
  EXPECT_FALSE(t4.unsupported(Dtype::fp16));
  EXPECT_THAT(t4.unsupported(Dtype::bf16).value(), HasSubstr("8.0"));
  EXPECT_THAT(t4.unsupported(Dtype::tf32).value(), HasSubstr("7.5"));
}

TEST_F(CudaDeviceTest, TimesBetweenEventsOnAnEmptyStream) {
  runtime_.step_ms = 2.5F;
  std::int64_t ns = 0;
  const auto calls = calls_of([&] { ns = device_.time([&] { runtime_.calls.emplace_back("the step"); }); });
  EXPECT_THAT(calls,
              ElementsAre("set_device", "synchronize", "record", "the step", "record", "wait", "elapsed_ms"));
  EXPECT_EQ(ns, 2'500'000);
}

TEST_F(CudaDeviceTest, CopiesHaveEndedWhenTheyReturn) {
  std::vector<int> numbers{1, 2, 3};
  Buffer buffer = device_.allocate(12, MemoryCategory::input);
  EXPECT_THAT(calls_of([&] { device_.upload(buffer.data(), numbers.data(), 12); }),
              ElementsAre("set_device", "copy", "synchronize"));
  std::vector<int> back(3);
  EXPECT_THAT(calls_of([&] { device_.download(back.data(), buffer.data(), 12); }),
              ElementsAre("set_device", "copy", "synchronize"));
  EXPECT_EQ(back, numbers);
  device_.fill(buffer.data(), std::byte{0xFF}, 12);
  device_.download(back.data(), buffer.data(), 12);
  EXPECT_EQ(back, std::vector<int>(3, -1));
}

TEST_F(CudaDeviceTest, AFullCardIsOutOfMemoryAndNothingIsCounted) {
  EXPECT_THAT(refusal<OutOfMemory>(2048 * kMiB), HasSubstr("2147483648 B"));
  EXPECT_EQ(device_.memory().live().total(), 0);
}

// Whichever allocation it is that fails, all that came before is released and the next one works.
TEST_F(CudaDeviceTest, TheNthAllocationFailing) {
  for (int nth = 1; nth <= 5; ++nth) {
    runtime_.fail("allocate", status::kMemoryAllocation, nth);
    // Nothing is kept at the second attempt either.
    std::vector<Buffer> buffers;
    int made = 0;
    bool refused = false;
    runtime_.capacity = runtime_.reserved + (nth - 1) * 4 * kMiB;
    for (int i = 0; i < 5 && !refused; ++i) {
      try {
        buffers.push_back(device_.allocate(4 * kMiB, MemoryCategory::activations));
        ++made;
      } catch (const OutOfMemory& error) {
        EXPECT_EQ(error.requested, 4 * kMiB);
        refused = true;
      }
    }
    EXPECT_TRUE(refused);
    EXPECT_EQ(made, nth - 1);
    EXPECT_EQ(device_.memory().live().total(), made * 4 * kMiB);
    EXPECT_EQ(runtime_.last_error(), status::kSuccess);
    buffers.clear();
    device_.drop_caches();
    EXPECT_EQ(runtime_.reserved, 0);
    runtime_.capacity = 1024 * kMiB;
    EXPECT_NO_THROW(device_.allocate(4 * kMiB, MemoryCategory::activations));
    device_.drop_caches();
  }
}

TEST_F(CudaDeviceTest, TheCapRefusesBeforeTheCardIsAsked) {
  device_.memory().set_cap(10 * kMiB);
  const Buffer first = device_.allocate(6 * kMiB, MemoryCategory::weights);
  const auto calls =
      calls_of([&] { EXPECT_THAT(refusal<OutOfMemory>(5 * kMiB), HasSubstr("memory cap is 10485760 B")); });
  EXPECT_TRUE(calls.empty());
}

TEST_F(CudaDeviceTest, DropCachesGivesBackWhatIsKeptAndTheDriverSeesIt) {
  runtime_.used_by_others = 100 * kMiB;
  device_.allocate(8 * kMiB, MemoryCategory::weights).reset();
  EXPECT_EQ(device_.driver_used(), 108 * kMiB);
  device_.drop_caches();
  EXPECT_EQ(device_.driver_used(), 100 * kMiB);
}

TEST_F(CudaDeviceTest, AStickyErrorIsADeviceLostThatNamesCallValueAndPlace) {
  Buffer buffer = device_.allocate(4 * kMiB, MemoryCategory::activations);
  runtime_.fail("wait", status::kIllegalAddress);
  try {
    device_.time([] {});
    FAIL() << "nothing was thrown";
  } catch (const DeviceLost& error) {
    EXPECT_THAT(error.what(), HasSubstr("cudaEventSynchronize"));
    EXPECT_THAT(error.what(), HasSubstr("700 (error700"));
    EXPECT_THAT(error.what(), HasSubstr(" kernels/device/cuda/device.cpp:"));
  }
  // From now on every call says so, and cleaning up stays quiet.
  EXPECT_THROW(device_.synchronize(), DeviceLost);
  EXPECT_THROW(device_.driver_used(), DeviceLost);
  EXPECT_THROW(device_.allocate(4 * kMiB, MemoryCategory::activations), DeviceLost);
  EXPECT_EQ(device_.memory().live().total(), 4 * kMiB) << "what was refused is not counted";
  EXPECT_NO_THROW(buffer.reset());
}

TEST_F(CudaDeviceTest, AnErrorThatPassesIsClearedAndNoDeviceIsLost) {
  constexpr int kInvalidValue = 1;
  runtime_.fail("copy", kInvalidValue);
  int value = 0;
  try {
    device_.download(&value, &value, sizeof value);
    FAIL() << "nothing was thrown";
  } catch (const DeviceLost&) {
    FAIL() << "an invalid value is no reason to give a card up";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cudaMemcpyAsync of 4 B from the card failed: 1 "));
  }
  EXPECT_EQ(runtime_.last_error(), status::kSuccess);
  EXPECT_NO_THROW(device_.synchronize());
}

TEST_F(CudaDeviceTest, AnErrorNamesTheLineOfTheCall) {
  int line = 0;
  try {
    line = __LINE__ + 1;
    runtime_.check(1, "cudaSomething");
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), ::testing::EndsWith(fmt::format("/device_test.cpp:{}", line)));
  }
}

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

TEST_F(CudaDeviceTest, APinnedBufferHasOneOwner) {
  {
    PinnedBuffer a = device_.allocate_pinned(100);
    PinnedBuffer b = std::move(a);
    EXPECT_EQ(a.data(), nullptr);
    EXPECT_EQ(b.bytes(), 100);
    EXPECT_EQ(runtime_.pinned, 1);
    b = device_.allocate_pinned(200);
    EXPECT_EQ(runtime_.pinned, 1);
  }
  EXPECT_EQ(runtime_.pinned, 0);
  runtime_.fail("allocate_pinned", status::kMemoryAllocation);
  EXPECT_THROW(device_.allocate_pinned(100), OutOfMemory);
  EXPECT_EQ(runtime_.last_error(), status::kSuccess);
}

TEST_F(CudaDeviceTest, PeaksAreMeasuredOnceAndLeaveNoMemoryBehind) {
  runtime_.capacity = 300 * kMiB;
  runtime_.step_ms = 1;
  const Peaks peaks = device_.peaks(Dtype::fp16);
  EXPECT_EQ(peaks.flops_per_s, 10e12);
  // Of pairs of buffers the card has room for 128 MiB each: read and written in a millisecond.
  EXPECT_DOUBLE_EQ(peaks.bytes_per_s, 1e3 * 2 * 128 * kMiB);
  EXPECT_THAT(peaks.source, HasSubstr("4096x4096x4096 fp16"));
  EXPECT_THAT(peaks.source, HasSubstr("copy of 128 MiB"));
  EXPECT_EQ(runtime_.reserved, 0);
  EXPECT_EQ(device_.memory().peak(), 0) << "no tracker sees it";
  EXPECT_TRUE(calls_of([&] { device_.peaks(Dtype::fp16); }).empty());
}

TEST_F(CudaDeviceTest, CachesAreFlushedByMoreThanTheyHold) {
  device_.flush_caches();
  const std::int64_t reserved = runtime_.reserved;
  EXPECT_GE(reserved, 2 * runtime_.cards.front().l2_bytes);
  EXPECT_EQ(runtime_.times("fill"), 1);
  EXPECT_EQ(runtime_.calls.back(), "synchronize") << "a sample must not start before it";
  device_.flush_caches();
  EXPECT_EQ(runtime_.reserved, reserved) << "the block is kept";
  EXPECT_EQ(runtime_.times("fill"), 2);
  EXPECT_EQ(device_.memory().peak(), 0) << "no tracker sees it";
}

TEST(CudaDevice, AFailureAnywhereInItsMakingReleasesAllThatWasMade) {
  for (const char* call : {"set_device", "properties", "create_stream", "create_event", "memory_info",
                           "runtime_version", "copy", "synchronize"}) {
    for (const int nth : {1, 2}) {
      testing::FakeRuntime runtime;
      runtime.fail(call, 1, nth);
      try {
        const CudaDevice device(testing::fake_backend(runtime), 0);
      } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("failed: 1 ")) << call;
      }
      EXPECT_EQ(runtime.handles, 0) << call << ' ' << nth;
      EXPECT_EQ(runtime.reserved, 0) << call << ' ' << nth;
      EXPECT_EQ(runtime.pinned, 0) << call << ' ' << nth;
    }
  }
}

TEST(CudaDevice, EndsQuietlyOnALostCard) {
  testing::FakeRuntime runtime;
  {
    CudaDevice device(testing::fake_backend(runtime), 0);
    const Buffer buffer = device.allocate(4 * kMiB, MemoryCategory::weights);
    const PinnedBuffer pinned = device.allocate_pinned(100);
    runtime.fail("synchronize", status::kLaunchFailure);
    EXPECT_THROW(device.synchronize(), DeviceLost);
  }
  EXPECT_EQ(runtime.last_error(), status::kLaunchFailure);
}

TEST(CudaDevice, WhatHeldItBackDuringAStepIsToldAfterwards) {
  testing::FakeRuntime runtime;
  Backend backend = testing::fake_backend(runtime);
  testing::FakeMonitor* monitor = nullptr;
  backend.monitor = [&](const std::string&) {
    auto made = std::make_unique<testing::FakeMonitor>();
    monitor = made.get();
    return made;
  };
  CudaDevice device(backend, 0);
  device.state();
  device.time([&] { monitor->now = testing::condition(1200, {"hw_thermal_slowdown"}); });
  monitor->now = testing::condition(210);
  const DeviceState state = device.state();
  EXPECT_EQ(state.clock_mhz, 1200);
  EXPECT_THAT(state.throttle_reasons, ::testing::ElementsAre("hw_thermal_slowdown"));
  EXPECT_TRUE(device.state().throttle_reasons.empty());
}

TEST(CudaDevice, WithoutAMonitorTheConditionIsAbsent) {
  testing::FakeRuntime runtime;
  Backend backend = testing::fake_backend(runtime);
  backend.monitor = [](const std::string&) { return nullptr; };
  const CudaDevice device(backend, 0);
  const DeviceState state = device.state();
  EXPECT_FALSE(state.clock_mhz || state.temperature_c || state.power_w);
  EXPECT_TRUE(state.throttle_reasons.empty());
  EXPECT_FALSE(device.info().details.contains("pcie"));
  EXPECT_EQ(device.info().details.at("driver"), "for CUDA 13.0");
}

// An earlier kernel's illegal address may show first in a library's call.
TEST(CudaLibrary, AFailureIsTheDevicesWhereTheDeviceIsLost) {
  EXPECT_THROW(raise_library("cublasLtMatmul failed", false, status::kIllegalAddress), DeviceLost);
  EXPECT_THROW(raise_library("cudnnCreate failed", true, status::kIllegalAddress), DeviceLost);
  EXPECT_THROW(raise_library("cudnnCreate failed", true, status::kSuccess), OutOfMemory);
  try {
    raise_library("a plan failed", false, status::kInsufficientDriver);
  } catch (const DeviceLost&) {
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a plan failed");
  }
}

}  // namespace
}  // namespace bench::kernels::cuda
