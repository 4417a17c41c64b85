// An operation's inputs and outputs as stored bytes, also those that are no numbers, or are read and written
// in place. Runs nothing itself.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "kernels/operations/operation.h"
#include "tests/kernels/operations/backward_of.h"

namespace bench::kernels::testing {

using Bytes = std::vector<std::byte>;

struct RunOptions {
  std::map<Slot, Bytes> opaque{};                 // what goes into input slots that hold no numbers
  std::vector<std::pair<Slot, Slot>> in_place{};  // an output, and the input whose memory it shares
  // Bytes by which memory is out of its alignment; more where a slot's elements are larger, which no one may
  // put between two of their places.
  std::int64_t offset = 0;
  std::uint64_t seed = 1;
  bool positive = false;  // parameters and states above zero
  int runs = 1;           // one after the other, states kept
};

// options.offset for this slot.
std::int64_t offset_of(const SlotInfo& slot, const RunOptions& options);

// Writes what an input, a parameter or a state starts with into `memory` of the host: the bytes that options
// have for it, else seeded values that the dtype can hold; zeros where it holds no numbers.
void give_seeded(Operation& operation, const SlotInfo& slot, Dtype dtype, const RunOptions& options,
                 void* memory);

// Slot by slot, as numbers where the slot holds some, else byte by byte. tolerance is relative_error's; no
// one element may be off by more than eight of it, of its size or of the tensor's typical one.
void expect_close(Operation& expected_by, const std::map<Slot, Bytes>& expected,
                  const std::map<Slot, Bytes>& answer, double tolerance);

}  // namespace bench::kernels::testing
