// One rank's part of a collective.
#pragma once

#include <cstdint>

#include "bench/clock.h"
#include "bench/device.h"
#include "bench/ranks.h"
#include "sweeps/collectives/operation.h"
#include "sweeps/ranks/team.h"

namespace bench::sweeps {

// Bytes that a rank gives, and of both its buffers.
std::int64_t given_bytes(Operation operation, std::int64_t bytes, int ranks);
std::int64_t buffer_bytes(Operation operation, std::int64_t bytes, int ranks);

// This rank's buffers in the device's memory, filled.
class Exchange final : public RankPart {
 public:
  // Throws OutOfMemory.
  Exchange(const CollectiveParams& params, std::uint64_t seed, RankGroup& ranks, Device& device,
           const Clock& clock);

  RankAnswer prepared() override { return {}; }
  // Nanoseconds a call, over so many in a row after a barrier; 0 for a rank that takes no part. Messages go
  // there and back, so that half of that counts.
  RankAnswer run(std::int64_t calls) override;
  // Poisons the result and runs once. Values that are wrong.
  RankAnswer verify() override;

 private:
  void call();
  bool takes_part() const;
  float expected(std::int64_t place) const;

  RankGroup& ranks_;
  Device& device_;
  const Clock& clock_;
  CollectiveParams params_;
  std::uint64_t seed_;
  Buffer from_;
  Buffer to_;
};

}  // namespace bench::sweeps
