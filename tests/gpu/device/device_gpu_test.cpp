// The CUDA device on a card: what the double of the runtime cannot show.
#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "bench/device.h"
#include "bench/error.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/devices/queued_timing.h"
#include "tests/gpu/first_card.h"

namespace bench::kernels::cuda {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class CardTest : public testing::OnFirstCard {};

TEST_F(CardTest, DescribesItself) {
  const DeviceInfo& info = device_->info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.compute_units, 0);
  EXPECT_GT(info.available_bytes, 0);
  EXPECT_LE(info.available_bytes, info.memory_bytes);
  EXPECT_EQ(info.details.at("uuid").size(), std::string("GPU-00000000-0000-0000-0000-000000000000").size());
  EXPECT_GE(card_of(*device_).compute_capability(), kOldestCapability);
}

TEST_F(CardTest, BytesComeBackAsTheyWent) {
  std::vector<int> numbers(1 << 20);
  std::iota(numbers.begin(), numbers.end(), 1);
  const auto bytes = static_cast<std::int64_t>(4 * numbers.size());
  const Buffer buffer = device_->allocate(bytes, MemoryCategory::input);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0U);
  device_->upload(buffer.data(), numbers.data(), bytes);
  std::vector<int> back(numbers.size());
  device_->download(back.data(), buffer.data(), bytes);
  EXPECT_EQ(back, numbers);
  device_->fill(buffer.data(), std::byte{0xFF}, bytes);
  device_->download(back.data(), buffer.data(), bytes);
  EXPECT_EQ(back, std::vector<int>(numbers.size(), -1));
}

TEST_F(CardTest, MoreThanThereIsIsOutOfMemoryAndLeavesNoErrorBehind) {
  EXPECT_THROW(device_->allocate(2 * device_->info().memory_bytes, MemoryCategory::other), OutOfMemory);
  EXPECT_EQ(cuda_runtime().last_error(), status::kSuccess);
  EXPECT_NO_THROW(device_->allocate(kMiB, MemoryCategory::other));
}

TEST_F(CardTest, TheDriverSeesWhatIsAllocatedAndWhatIsDropped) {
  const std::int64_t before = device_->driver_used();
  Buffer buffer = device_->allocate(512 * kMiB, MemoryCategory::other);
  EXPECT_GE(device_->driver_used() - before, 512 * kMiB);
  buffer.reset();
  device_->drop_caches();
  EXPECT_LT(device_->driver_used() - before, 512 * kMiB);
}

TEST_F(CardTest, ALongerFillTakesLonger) {
  const Buffer buffer = device_->allocate(256 * kMiB, MemoryCategory::other);
  const auto shortest = [&](std::int64_t bytes) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 10; ++i) {
      best = std::min(best, device_->time([&] { device_->fill(buffer.data(), std::byte{1}, bytes); }));
    }
    return best;
  };
  const std::int64_t small = shortest(64);
  EXPECT_GT(small, 0);
  EXPECT_GT(shortest(256 * kMiB), small);
}

// Behind the held stream the launch is no part of a step's time; events tell half a microsecond.
TEST_F(CardTest, AQueuedStepTakesNoLongerThanWithItsLaunch) {
  auto& queued = dynamic_cast<QueuedTiming&>(*device_);
  const Buffer buffer = device_->allocate(64, MemoryCategory::other);
  const auto fill = [&] { device_->fill(buffer.data(), std::byte{1}, 64); };
  std::int64_t with_launch = std::numeric_limits<std::int64_t>::max();
  std::int64_t alone = with_launch;
  for (int i = 0; i < 50; ++i) {
    with_launch = std::min(with_launch, device_->time(fill));
    alone = std::min(alone, queued.time_queued(fill));
  }
  EXPECT_GT(alone, 0);
  EXPECT_LE(alone, with_launch + 1000);
}

TEST_F(CardTest, AQueuedStepThatWaitsForTheCardEnds) {
  auto& queued = dynamic_cast<QueuedTiming&>(*device_);
  const auto start = std::chrono::steady_clock::now();
  queued.time_queued([&] { device_->synchronize(); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10 * StreamHold::kLongest);
  EXPECT_THROW(queued.time_queued([] { throw std::runtime_error("no plan"); }), std::runtime_error);
  EXPECT_NO_THROW(device_->synchronize());
}

TEST_F(CardTest, ARecordedStepDoesItAgain) {
  const Buffer buffer = device_->allocate(4, MemoryCategory::other);
  const auto step = device_->record([&] { device_->fill(buffer.data(), std::byte{7}, 4); });
  device_->fill(buffer.data(), std::byte{0}, 4);
  step->replay();
  int value = 0;
  device_->download(&value, buffer.data(), 4);
  EXPECT_EQ(value, 0x07070707);
}

TEST_F(CardTest, FlushingCachesLeavesMemoryAsItIs) {
  const Buffer buffer = device_->allocate(kMiB, MemoryCategory::other);
  device_->fill(buffer.data(), std::byte{7}, kMiB);
  for (int i = 0; i < 3; ++i) {
    device_->flush_caches();
  }
  std::vector<std::byte> back(kMiB);
  device_->download(back.data(), buffer.data(), kMiB);
  EXPECT_EQ(back, std::vector<std::byte>(kMiB, std::byte{7}));
}

TEST_F(CardTest, PeaksAreMeasuredForEveryDtypeItHas) {
  for (const Dtype dtype : kAllDtypes) {
    if (device_->unsupported(dtype)) {
      continue;
    }
    const Peaks peaks = device_->peaks(dtype);
    EXPECT_GT(peaks.flops_per_s, 1e11) << name_of(dtype);
    EXPECT_GT(peaks.bytes_per_s, 1e10) << name_of(dtype);
    EXPECT_LT(peaks.bytes_per_s, 1e14) << name_of(dtype);
  }
}

}  // namespace
}  // namespace bench::kernels::cuda
