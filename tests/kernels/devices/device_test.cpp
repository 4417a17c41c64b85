#include "kernels/devices/cuda/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/describe.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/cuda_device_fixture.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::ElementsAre;

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
  EXPECT_EQ(info.details.at("clocks.sm_mhz"), "210");
  EXPECT_EQ(info.details.at("clocks.sm_max_mhz"), "1777");
  EXPECT_FALSE(info.details.contains("clocks.memory_mhz")) << "unknown is absent";
  EXPECT_EQ(info.details.at("clocks.memory_max_mhz"), "7501");
  EXPECT_EQ(device_.card().compute_capability(), 86);
  EXPECT_EQ(stream_of(device_), device_.stream());
}

TEST_F(CudaDeviceTest, AsksForTheLinkWhileCopiesAreUnderWayUntilItIsAwake) {
  EXPECT_EQ(device_.info().details.at("pcie"), "gen4 x16");  // the first readings said gen1
  EXPECT_EQ(device_.info().details.at("pcie_best"), "gen4 x16");
  EXPECT_EQ(runtime_.times("copy"), 3);
  EXPECT_EQ(runtime_.reserved, 0) << "what the copies needed is given back";
  EXPECT_EQ(runtime_.pinned, 0);
}

// Which is what is called before each workload's first preparation.
TEST_F(CudaDeviceTest, CountsWorkloadsByTheCachesThatAreDroppedBefore) {
  const std::int64_t before = device_.card().workload();
  device_.drop_caches();
  EXPECT_EQ(device_.card().workload(), before + 1);
}

TEST(CudaDevice, AsksForTheLinkOfACardOnce) {
  testing::FakeRuntime runtime;
  runtime.cards.push_back(runtime.cards[0]);
  runtime.cards[1].pci_bus_id = "0000:02:00.0";
  const Backend backend = testing::fake_backend(runtime);
  const CudaDevice first(backend, 0);
  EXPECT_GT(runtime.times("copy"), 0);
  runtime.calls.clear();
  const CudaDevice twin(backend, 0);
  EXPECT_EQ(runtime.times("copy") + runtime.times("allocate_pinned"), 0);
  EXPECT_EQ(twin.info().details.at("pcie"), "gen4 x16");
  const CudaDevice other(backend, 1);
  EXPECT_GT(runtime.times("copy"), 0);
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
  expect_words(t4.unsupported(Dtype::bf16).value());
  expect_words(t4.unsupported(Dtype::tf32).value());
}

TEST_F(CudaDeviceTest, TimesBetweenEventsOnAnEmptyStream) {
  runtime_.step_ms = 2.5F;
  std::int64_t ns = 0;
  const auto calls = calls_of([&] { ns = device_.time([&] { runtime_.calls.emplace_back("the step"); }); });
  EXPECT_THAT(calls,
              ElementsAre("set_device", "synchronize", "record", "the step", "record", "wait", "elapsed_ms"));
  EXPECT_EQ(ns, 2'500'000);
}

// The events and the step's work are in the stream before it goes on: the card waits for no launch.
TEST_F(CudaDeviceTest, TimesAQueuedStepBehindAHostCallThatHoldsTheStream) {
  runtime_.step_ms = 0.005F;
  std::int64_t ns = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto calls =
      calls_of([&] { ns = device_.time_queued([&] { runtime_.calls.emplace_back("the step"); }); });
  EXPECT_THAT(calls, ElementsAre("set_device", "synchronize", "call_host", "record", "the step", "record",
                                 "host call ended", "wait", "elapsed_ms"));
  EXPECT_EQ(ns, 5000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, StreamHold::kLongest) << "it was let go before";
}

// Autotuning waits for the card within the first step.
TEST_F(CudaDeviceTest, AStepThatWaitsForTheCardIsNotHeldForLong) {
  const auto calls = calls_of([&] { device_.time_queued([&] { device_.synchronize(); }); });
  EXPECT_THAT(calls, ElementsAre("set_device", "synchronize", "call_host", "record", "host call ended",
                                 "synchronize", "record", "wait", "elapsed_ms"));
}

TEST_F(CudaDeviceTest, AStepThatFailsLeavesTheStreamFree) {
  EXPECT_THROW(device_.time_queued([] { throw std::runtime_error("no plan"); }), std::runtime_error);
  const auto start = std::chrono::steady_clock::now();
  device_.synchronize();
  EXPECT_LT(std::chrono::steady_clock::now() - start, StreamHold::kLongest);
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

TEST_F(CudaDeviceTest, CalibratesByItsOwnKernelsAndGivesTheirMemoryBack) {
  runtime_.step_ms = 0.25F;
  const auto before = device_.allocator().peak_reserved();
  std::optional<Calibration> taken;
  const auto calls = calls_of([&] { taken = device_.calibrate(); });
  EXPECT_EQ(taken, (Calibration{.arithmetic_ns = 250'000, .copy_ns = 250'000}));
  EXPECT_EQ(std::ranges::count(calls, "multiply_add"), 5);
  EXPECT_EQ(std::ranges::count(calls, "copy"), 5);
  EXPECT_EQ(device_.memory().peak(), 0);
  EXPECT_GE(device_.allocator().peak_reserved(), before);
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

}  // namespace
}  // namespace bench::kernels::cuda
