// The device's memory: refusals, blocks that it keeps, and measurements that the tracker does not see.
#include "kernels/devices/cuda/device.h"

#include <functional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/cuda_device_fixture.h"
#include "tests/kernels/devices/sizes.h"

namespace bench::kernels::cuda {
namespace {

// The device's message when it refuses memory.
template <class Error>
std::string refusal(CudaDevice& device, std::int64_t bytes) {
  try {
    device.allocate(bytes, MemoryCategory::activations);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// A library that allocates for itself, and finds no memory `refusals` times. Returns how often it was asked.
int asked(CudaDevice& device, int refusals) {
  int calls = 0;
  const auto library = [&] {
    if (++calls <= refusals) {
      throw OutOfMemory("CUDNN_STATUS_ALLOC_FAILED", 0);
    }
    return calls;
  };
  try {
    EXPECT_EQ(device.card().with_memory(library), refusals + 1);
  } catch (const OutOfMemory&) {
    EXPECT_LE(calls, refusals) << "the last call was refused";
  }
  return calls;
}

TEST_F(CudaDeviceTest, ALibraryWithoutMemoryGetsTheKeptSegmentsAndIsAskedOnceMore) {
  const Buffer used = device_.allocate(4 * kMiB, MemoryCategory::activations);
  device_.allocate(8 * kMiB, MemoryCategory::activations);  // kept
  EXPECT_EQ(asked(device_, 0), 1);
  EXPECT_EQ(runtime_.reserved, 12 * kMiB) << "nothing is given back without need";
  EXPECT_EQ(asked(device_, 1), 2);
  EXPECT_EQ(runtime_.reserved, 4 * kMiB) << "what is in use stays";
  EXPECT_EQ(asked(device_, 1), 1) << "there is nothing left to give back";
  device_.allocate(8 * kMiB, MemoryCategory::activations);
  EXPECT_EQ(asked(device_, 2), 2) << "once more, not for ever";
}

// cudaFree would break the recording.
TEST_F(CudaDeviceTest, NothingIsGivenBackInARecording) {
  device_.allocate(8 * kMiB, MemoryCategory::activations);
  runtime_.capturing = true;
  EXPECT_EQ(asked(device_, 1), 1);
  EXPECT_EQ(runtime_.reserved, 8 * kMiB);
}

// The driver loads a kernel's code at its first launch.
TEST_F(CudaDeviceTest, AKernelWhoseCodeFindsNoMemoryIsLaunchedOnceMore) {
  device_.allocate(8 * kMiB, MemoryCategory::activations);  // kept
  const auto launches = [&](int refusals) {
    int count = 0;
    device_.card().queue("kernel", [&](CUstream_st* stream) {
      EXPECT_EQ(stream, device_.stream());
      if (++count <= refusals) {
        void* code = nullptr;
        runtime_.allocate(code, std::size_t{2} << 40);
      }
    });
    return count;
  };
  EXPECT_EQ(launches(1), 2);
  EXPECT_EQ(runtime_.reserved, 0);
  EXPECT_THROW(launches(1), OutOfMemory) << "there is nothing left to give back";
  EXPECT_EQ(launches(0), 1) << "the refusal is cleared";
}

TEST_F(CudaDeviceTest, OtherErrorsOfALibraryAreNotTriedAgain) {
  device_.allocate(8 * kMiB, MemoryCategory::activations);
  int calls = 0;
  const auto library = [&] {
    ++calls;
    throw Unsupported("it cannot");
  };
  EXPECT_THROW(device_.card().with_memory(library), Unsupported);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(runtime_.reserved, 8 * kMiB);
}

TEST_F(CudaDeviceTest, AFullCardIsOutOfMemoryAndNothingIsCounted) {
  expect_words(refusal<OutOfMemory>(device_, 2048 * kMiB));
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

// Another device may have been opened since: each call that depends on it says first which card it is for.
TEST(CudaDevices, EachWorksOnItsOwnCard) {
  testing::FakeRuntime runtime;
  runtime.cards.push_back(runtime.cards[0]);
  CudaDevice first(testing::fake_backend(runtime), 0);
  const CudaDevice second(testing::fake_backend(runtime), 1);
  int value = 0;
  std::vector<Buffer> buffers;
  const std::vector<std::pair<const char*, std::function<void()>>> all{
      {"allocate", [&] { buffers.push_back(first.allocate(4 * kMiB, MemoryCategory::weights)); }},
      {"upload", [&] { first.upload(buffers[0].data(), &value, sizeof value); }},
      {"download", [&] { first.download(&value, buffers[0].data(), sizeof value); }},
      {"fill", [&] { first.fill(buffers[0].data(), std::byte{0}, 4); }},
      {"time", [&] { first.time([] {}); }},
      {"record", [&] { first.record([] {}); }},
      {"flush_caches", [&] { first.flush_caches(); }},
      {"drop_caches", [&] { first.drop_caches(); }},
      {"driver_used", [&] { first.driver_used(); }}};
  for (const auto& [name, call] : all) {
    runtime.current = 1;
    call();
    EXPECT_EQ(runtime.current, 0) << name;
  }
}

TEST_F(CudaDeviceTest, TheCapRefusesBeforeTheCardIsAsked) {
  device_.memory().set_cap(10 * kMiB);
  const Buffer first = device_.allocate(6 * kMiB, MemoryCategory::weights);
  const auto calls = calls_of([&] { expect_words(refusal<OutOfMemory>(device_, 5 * kMiB)); });
  EXPECT_TRUE(calls.empty());
}

TEST_F(CudaDeviceTest, DropCachesGivesBackWhatIsKeptAndTheDriverSeesIt) {
  runtime_.used_by_others = 100 * kMiB;
  device_.allocate(8 * kMiB, MemoryCategory::weights).reset();
  EXPECT_EQ(device_.driver_used(), 108 * kMiB);
  device_.drop_caches();
  EXPECT_EQ(device_.driver_used(), 100 * kMiB);
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
  // The card has room for two buffers of 128 MiB: read and written in a millisecond.
  EXPECT_DOUBLE_EQ(peaks.bytes_per_s, 1e3 * 2 * 128 * kMiB);
  expect_words(peaks.source);
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

// The lines that the fill wrote would be written back within the next sample.
TEST_F(CudaDeviceTest, FlushedCachesHoldLinesThatWereOnlyRead) {
  const auto calls = calls_of([&] { device_.flush_caches(); });
  const std::vector<std::string> last(calls.end() - 3, calls.end());
  EXPECT_THAT(last, ::testing::ElementsAre("fill", "read", "synchronize"));
  ASSERT_EQ(runtime_.touched.size(), 2U);
  const auto [written, written_bytes] = runtime_.touched[0];
  const auto [read, read_bytes] = runtime_.touched[1];
  EXPECT_GE(read_bytes, 2 * runtime_.cards.front().l2_bytes);
  EXPECT_EQ(read_bytes, written_bytes);
  EXPECT_EQ(read, written + written_bytes) << "none of what was written";
  EXPECT_GE(runtime_.reserved, written_bytes + read_bytes);
}

}  // namespace
}  // namespace bench::kernels::cuda
