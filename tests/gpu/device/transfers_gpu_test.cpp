// Copies between the host and a card: what the double of the runtime cannot show.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "bench/device.h"
#include "bench/transfers.h"
#include "kernels/workloads/copy/copy_workload.h"
#include "tests/gpu/first_card.h"

namespace bench::kernels::cuda {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class CardTransfersTest : public testing::OnFirstCard {
 protected:
  static CopySpec spec(bool up, bool down, HostKind host, bool staged, std::int64_t bytes) {
    CopySpec spec;
    spec.to_device = up;
    spec.to_host = down;
    spec.host = host;
    spec.staged = staged;
    spec.bytes = bytes;
    return spec;
  }
  double rate(const CopySpec& spec) {
    CopyWorkload workload(spec, *device_);
    workload.step();
    std::int64_t best = 0;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t ns = device_->time([&] { workload.step(); });
      best = best == 0 ? ns : std::min(best, ns);
    }
    return static_cast<double>(spec.total_bytes()) / static_cast<double>(best);
  }
};

TEST_F(CardTransfersTest, EveryKindArrives) {
  for (const auto& [up, down] : {std::pair{true, false}, std::pair{false, true}, std::pair{true, true}}) {
    for (const std::int64_t in_flight : {1, 8}) {
      for (const auto& [host, staged] :
           {std::pair{HostKind::pinned, false}, std::pair{HostKind::pageable, false},
            std::pair{HostKind::pageable, true}}) {
        for (const bool own_queue : {false, true}) {
          CopySpec each = spec(up, down, host, staged, 5 * kMiB / 2 + 3);
          each.in_flight = in_flight;
          each.own_queue = own_queue;
          const Verification verification = CopyWorkload(each, *device_).verify();
          EXPECT_TRUE(verification.passed) << verification.detail;
        }
      }
    }
  }
}

TEST_F(CardTransfersTest, APinnedCopyReturnsBeforeItIsDone) {
  Transfers& transfers = *transfers_of(*device_);
  const auto host = transfers.host_memory({.kind = HostKind::pinned, .bytes = 256 * kMiB});
  const Buffer buffer = device_->allocate(256 * kMiB, MemoryCategory::input);
  const auto queue = transfers.copy_queue();
  const Copy copy{.direction = CopyDirection::to_device,
                  .host = HostKind::pinned,
                  .to = buffer.data(),
                  .from = host->data(),
                  .bytes = 256 * kMiB};
  queue->start(copy);
  queue->wait();
  const auto start = std::chrono::steady_clock::now();
  queue->start(copy);
  const auto returned = std::chrono::steady_clock::now() - start;
  queue->wait();
  EXPECT_LT(returned, (std::chrono::steady_clock::now() - start) / 2);
}

// Not a measure of the card: a time that forgot to wait would be far beyond any bus, one in the wrong unit
// far below.
TEST_F(CardTransfersTest, TimesAreOfTheRightOrder) {
  const double gigabytes_per_s = rate(spec(true, false, HostKind::pinned, false, 64 * kMiB));
  EXPECT_GT(gigabytes_per_s, 0.2);
  EXPECT_LT(gigabytes_per_s, 1000);
}

}  // namespace
}  // namespace bench::kernels::cuda
