// A card's copies on the double of the runtime: which calls are made, on which streams.
#include "kernels/devices/cuda/transfers.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/devices/host/pages.h"
#include "kernels/workloads/copy/copy_workload.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/fake_runtime.h"
#include "tests/kernels/devices/sizes.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::HasSubstr;

class CudaTransfersTest : public ::testing::Test {
 protected:
  CopySpec spec(const char* mode, const char* memory, std::int64_t bytes, std::int64_t in_flight = 1) const {
    CopySpec spec;
    spec.to_device = mode != std::string("d2h");
    spec.to_host = mode != std::string("h2d");
    spec.host = memory == std::string("pinned") ? HostKind::pinned : HostKind::pageable;
    spec.staged = memory == std::string("staged");
    spec.bytes = bytes;
    spec.in_flight = in_flight;
    return spec;
  }

  testing::FakeRuntime runtime_;
  CudaDevice device_{testing::fake_backend(runtime_), 0};
};

TEST_F(CudaTransfersTest, TheCardOffersThem) {
  Transfers* const transfers = transfers_of(device_);
  ASSERT_NE(transfers, nullptr);
  EXPECT_TRUE(transfers->crosses_bus());
  EXPECT_FALSE(transfers->nodes().empty());
}

TEST_F(CudaTransfersTest, EveryKindArrivesAndNothingIsLeftBehind) {
  const std::int64_t handles = runtime_.handles;
  for (const char* mode : {"h2d", "d2h", "both"}) {
    for (const char* memory : {"pinned", "pageable", "staged"}) {
      for (const std::int64_t in_flight : {1, 9}) {
        CopyWorkload workload(spec(mode, memory, 3 * kMiB / 2, in_flight), device_);
        EXPECT_TRUE(workload.verify().passed) << mode << " " << memory << " " << in_flight;
      }
    }
  }
  EXPECT_EQ(runtime_.pinned, 0);
  EXPECT_LE(runtime_.handles - handles, 15);  // the side streams, their events and the fork stay
}

TEST_F(CudaTransfersTest, HostMemoryIsNotTheCards) {
  const MemoryPlan plan = copy_plan(spec("h2d", "pinned", kMiB), device_);
  EXPECT_EQ(plan.at_peak[MemoryCategory::workspace], 0);
  device_.memory().reset_peak();
  const CopyWorkload workload(spec("h2d", "pinned", kMiB), device_);
  EXPECT_EQ(device_.memory().peak(), plan.peak);
}

TEST_F(CudaTransfersTest, OneCopyIsOnTheDevicesStreamSoThatItsEventsHoldIt) {
  CopyWorkload workload(spec("h2d", "pinned", kMiB), device_);
  runtime_.copied_on.clear();
  runtime_.calls.clear();
  workload.step();
  EXPECT_EQ(runtime_.copied_on, std::vector<CUstream_st*>{device_.stream()});
  EXPECT_EQ(runtime_.times("synchronize"), 0);  // the host goes on
  EXPECT_EQ(runtime_.times("stream_wait"), 0);
}

TEST_F(CudaTransfersTest, SeveralCopiesHaveStreamsThatForkFromTheDevicesAndJoinIt) {
  CopyWorkload workload(spec("both", "pinned", kMiB, 2), device_);
  runtime_.copied_on.clear();
  runtime_.calls.clear();
  workload.step();
  const std::set<CUstream_st*> streams(runtime_.copied_on.begin(), runtime_.copied_on.end());
  EXPECT_EQ(streams.size(), 4U);
  EXPECT_TRUE(streams.contains(device_.stream()));
  EXPECT_EQ(runtime_.times("record"), 4);       // the fork, and three ends
  EXPECT_EQ(runtime_.times("stream_wait"), 6);  // three wait to begin, and one for each of them to end
  EXPECT_EQ(runtime_.times("synchronize"), 0);
}

TEST_F(CudaTransfersTest, AnOwnQueueIsNotTheDevicesStream) {
  CopySpec apart = spec("h2d", "pinned", kMiB);
  apart.own_queue = true;
  CopyWorkload workload(apart, device_);
  runtime_.copied_on.clear();
  workload.step();
  ASSERT_EQ(runtime_.copied_on.size(), 1U);
  EXPECT_NE(runtime_.copied_on[0], device_.stream());
  EXPECT_GE(runtime_.times("synchronize"), 1);
}

TEST_F(CudaTransfersTest, AFlippedByteIsFound) {
  CopyWorkload workload(spec("h2d", "pinned", kMiB), device_);
  EXPECT_TRUE(workload.verify().passed);
  runtime_.flips_a_byte = true;
  const Verification verification = workload.verify();
  EXPECT_FALSE(verification.passed);
  expect_words(verification.detail);
}

TEST_F(CudaTransfersTest, MemoryOfANodeIsRegistered) {
  Transfers& transfers = *transfers_of(device_);
  const int node = online_nodes().front();
  try {
    const auto memory = transfers.host_memory({.kind = HostKind::pinned, .bytes = kMiB, .node = node});
    EXPECT_EQ(runtime_.registered, 1);
    EXPECT_EQ(runtime_.pinned, 0);
  } catch (const Unsupported& error) {  // containers may forbid the call
    EXPECT_THAT(error.what(), HasSubstr("mbind"));
  }
  EXPECT_EQ(runtime_.registered, 0);
  EXPECT_THAT(*transfers.cannot_hold({.kind = HostKind::pinned, .bytes = kMiB, .node = 999}),
              HasSubstr("NUMA node 999"));
}

TEST_F(CudaTransfersTest, RefusedMemoryNamesTheBytes) {
  runtime_.fail("allocate_pinned", status::kMemoryAllocation);
  try {
    CopyWorkload(spec("h2d", "pinned", kMiB), device_);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    expect_words(error.what());
  }
  EXPECT_EQ(device_.memory().live().total(), 0);
}

TEST_F(CudaTransfersTest, AFailedCopyNamesTheCall) {
  CopyWorkload workload(spec("h2d", "pinned", kMiB), device_);
  runtime_.fail("copy", 999);
  try {
    workload.step();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cudaMemcpyAsync of 1048576 B to the card"));
  }
}

TEST_F(CudaTransfersTest, TheCardsOwnPagesAreNeverFresh) {
  CopySpec cold = spec("h2d", "pageable", kMiB);
  cold.cold_pages = true;
  EXPECT_THROW(CopyWorkload(cold, device_), Unsupported);
  cold = spec("d2h", "pageable", kMiB);
  cold.cold_pages = true;
  EXPECT_TRUE(CopyWorkload(cold, device_).verify().passed);
}

}  // namespace
}  // namespace bench::kernels::cuda
