// The CPU device: what it says of itself, its memory, its clock and its condition.
#include "bench/device.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/clock.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/devices/cpu/condition.h"
#include "kernels/devices/cpu/memory.h"
#include "kernels/devices/cpu/peaks.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class CpuDevice : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = registry<DeviceKind>().find("cpu")->open("cpu");
};

TEST_F(CpuDevice, IntroducesItself) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.id, "cpu");
  EXPECT_EQ(info.kind, "cpu");
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.compute_units, 1);
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_GT(info.available_bytes, 0);
  EXPECT_LE(info.available_bytes, info.memory_bytes);
  EXPECT_FALSE(info.details.at("isa").empty());
  EXPECT_THAT(info.details.at("onednn"), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(CpuDevice, IsListedAndOpensByItsIdOnly) {
  const DeviceKind* kind = registry<DeviceKind>().find("cpu");
  const auto listings = kind->list();
  ASSERT_EQ(listings.size(), 1U);
  EXPECT_EQ(listings[0].id, "cpu");
  EXPECT_EQ(listings[0].missing, "");
  EXPECT_THROW(kind->open("cpu:1"), UsageError);
}

TEST_F(CpuDevice, SaysWhichDtypesItLacks) {
  EXPECT_EQ(device_->unsupported(Dtype::fp32), std::nullopt);
  if (const auto reason = device_->unsupported(Dtype::fp16)) {
    EXPECT_THAT(*reason, ::testing::HasSubstr("oneDNN " + device_->info().details.at("onednn")));
  }
  expect_words(device_->unsupported(Dtype::tf32).value());
  if (const auto reason = device_->unsupported(Dtype::bf16)) {
    EXPECT_THAT(*reason, ::testing::HasSubstr(device_->info().details.at("isa")));
  }
}

TEST_F(CpuDevice, AllocatesAlignedWritableMemory) {
  for (const std::int64_t bytes :
       {std::int64_t{1}, std::int64_t{100}, 4 * kMiB - 1, 4 * kMiB, 9 * kMiB + 5}) {
    const Buffer buffer = device_->allocate(bytes, MemoryCategory::weights);
    EXPECT_EQ(buffer.bytes(), bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
    EXPECT_EQ(address % (bytes >= kMappedFrom ? 2 * static_cast<std::uintptr_t>(kMiB) : 64), 0U) << bytes;
    device_->fill(buffer.data(), std::byte{0x5a}, bytes);
    EXPECT_EQ(buffer.data()[0], std::byte{0x5a});
    EXPECT_EQ(buffer.data()[bytes - 1], std::byte{0x5a});
  }
  EXPECT_EQ(device_->allocate(0, MemoryCategory::weights).data(), nullptr);
}

TEST_F(CpuDevice, CountsLiveAndPeakBytesByCategory) {
  Buffer weights = device_->allocate(1000, MemoryCategory::weights);
  {
    const Buffer activations = device_->allocate(500, MemoryCategory::activations);
    EXPECT_EQ(device_->memory().live().total(), 1500);
  }
  EXPECT_EQ(device_->memory().live().total(), 1000);
  EXPECT_EQ(device_->memory().peak(), 1500);
  EXPECT_EQ(device_->memory().at_peak()[MemoryCategory::activations], 500);
  device_->memory().reset_peak();
  EXPECT_EQ(device_->memory().peak(), 1000);
  weights.reset();
  EXPECT_EQ(device_->memory().live(), MemoryByCategory{});
}

TEST_F(CpuDevice, CapRefusesAndChangesNothing) {
  device_->memory().set_cap(1000);
  const Buffer held = device_->allocate(600, MemoryCategory::weights);
  const MemoryByCategory before = device_->memory().live();
  try {
    device_->allocate(401, MemoryCategory::activations);
    ADD_FAILURE() << "allocated beyond the cap";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested, 401);
    expect_words(error.what());
  }
  EXPECT_EQ(device_->memory().live(), before);
  EXPECT_EQ(device_->memory().peak(), 600);
  EXPECT_NO_THROW(device_->allocate(400, MemoryCategory::activations));
}

TEST_F(CpuDevice, MoreThanAnAddressSpaceIsOutOfMemory) {
  constexpr std::int64_t kTooMuch = std::int64_t{1} << 60;
  EXPECT_THROW(device_->allocate(kTooMuch, MemoryCategory::other), OutOfMemory);
  EXPECT_EQ(device_->memory().live().total(), 0);
}

TEST_F(CpuDevice, ABufferHasOneOwner) {
  Buffer first = device_->allocate(64, MemoryCategory::input);
  const std::byte* data = first.data();
  Buffer second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(device_->memory().live().total(), 64);
  second = device_->allocate(128, MemoryCategory::input);  // frees what it held
  EXPECT_EQ(device_->memory().live().total(), 128);
}

TEST_F(CpuDevice, GivesLargeBlocksBackToTheSystem) {
  constexpr std::int64_t kLarge = 256 * kMiB;
  const std::int64_t before = device_->driver_used();
  EXPECT_GT(before, 0);
  Buffer buffer = device_->allocate(kLarge, MemoryCategory::activations);
  device_->fill(buffer.data(), std::byte{1}, kLarge);
  EXPECT_GE(device_->driver_used(), before + kLarge / 2);
  buffer.reset();
  EXPECT_LT(device_->driver_used(), before + kLarge / 2);
}

TEST_F(CpuDevice, CopiesBothWays) {
  const std::string text = "there and back";
  const auto bytes = static_cast<std::int64_t>(text.size());
  const Buffer buffer = device_->allocate(bytes, MemoryCategory::input);
  device_->upload(buffer.data(), text.data(), bytes);
  std::string back(text.size(), ' ');
  device_->download(back.data(), buffer.data(), bytes);
  EXPECT_EQ(back, text);
}

TEST_F(CpuDevice, TimesTheStepAndNothingElse) {
  const auto outer = std::chrono::steady_clock::now();
  int calls = 0;
  const std::int64_t inner = device_->time([&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  });
  const auto whole =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - outer);
  EXPECT_EQ(calls, 1);
  EXPECT_GE(inner, 3'000'000);
  EXPECT_LE(inner, whole.count());
}

TEST_F(CpuDevice, MeasuresItsPeaksOnce) {
  const Peaks first = device_->peaks(Dtype::fp32);
  EXPECT_GT(first.flops_per_s, 0);
  EXPECT_GT(first.bytes_per_s, 0);
  EXPECT_THAT(first.source, ::testing::HasSubstr("oneDNN"));
  const Peaks second = device_->peaks(Dtype::fp32);
  EXPECT_EQ(first.flops_per_s, second.flops_per_s);
  EXPECT_EQ(device_->peaks(Dtype::fp16).flops_per_s, 0);
  EXPECT_EQ(device_->memory().peak(), 0) << "the measurement's buffers are no workload's";
}

// 10 ms pass between any two readings.
class TickingClock : public Clock {
 public:
  time_point now() const override { return now_ += std::chrono::milliseconds(10); }
  void sleep_until(time_point time) const override { now_ = time; }

 private:
  mutable time_point now_;
};

TEST(CpuPeaks, AreTimedByTheClockThatIsGiven) {
  const auto device = registry<DeviceKind>().find("cpu")->open("cpu");
  const Peaks peaks = measure_cpu_peaks(*device, Dtype::fp32, std::int64_t{64} << 20, TickingClock());
  EXPECT_NEAR(peaks.flops_per_s, 2.0 * 1024 * 1024 * 1024 / 0.01, 1e3);
  EXPECT_NEAR(peaks.bytes_per_s, 2.0 * (8 << 20) / 0.01, 1);
}

TEST(CpuCondition, ReadsProcAndCgroupTexts) {
  EXPECT_EQ(throttled_periods("usage_usec 5\nnr_periods 10\nnr_throttled 7\nthrottled_usec 9\n"), 7);
  EXPECT_EQ(throttled_periods("usage_usec 5\n"), std::nullopt);
  EXPECT_EQ(throttled_periods(""), std::nullopt);
}

TEST(CpuCondition, ReadsHowLongAThreadWaitedForACore) {
  EXPECT_EQ(waited_ns("900990 1234 2\n"), 1234);
  EXPECT_EQ(waited_ns("900990"), std::nullopt);
  EXPECT_EQ(waited_ns(""), std::nullopt);
  EXPECT_EQ(cpuinfo_mhz("processor\t: 0\ncpu MHz\t\t: 2596.094\ncache size\t: 1 KB\n"), 2596.094);
  EXPECT_EQ(cpuinfo_mhz("processor : 0\n"), std::nullopt);
}

TEST(CpuCondition, ThreadsThatWaitForEachOtherDoNotWaitForOthers) {
  const CpuUsage idle{.stolen = 0.01, .others = 0.03};
  EXPECT_FALSE(waited_for_others(0.2, idle, 2));
  EXPECT_TRUE(waited_for_others(0.2, CpuUsage{.stolen = 0, .others = 0.9}, 2));
  EXPECT_TRUE(waited_for_others(0.2, CpuUsage{.stolen = 0.06, .others = 0}, 2));
  EXPECT_FALSE(waited_for_others(0.04, CpuUsage{.stolen = 0, .others = 0.9}, 2));
  EXPECT_TRUE(waited_for_others(0.2, std::nullopt, 2));
}

TEST(CpuCondition, SaysWhenTheQuotaRanOut) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "bench_cpu_stat";
  const auto write = [&](int periods) {
    std::ofstream(path) << "nr_periods 100\nnr_throttled " << periods << "\n";
  };
  write(5);
  CpuCondition condition(path);
  EXPECT_THAT(condition.read().throttle_reasons, Not(Contains("cpu_quota")));
  write(6);
  EXPECT_THAT(condition.read().throttle_reasons, Contains("cpu_quota"));
  EXPECT_THAT(condition.read().throttle_reasons, Not(Contains("cpu_quota")));
  std::filesystem::remove(path);
  EXPECT_THAT(condition.read().throttle_reasons, Not(Contains("cpu_quota")));
}

}  // namespace
}  // namespace bench::kernels
