// A single operation with a buffer for each slot, its parameters and samples in place: what the workloads of
// one operation run. All operands are random, each sample another: repeated values toggle fewer bits, and a
// card then clocks higher. A long sample repeats millions of values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/device.h"
#include "bench/memory.h"
#include "bench/workload.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

// The part of a larger operation's inputs that an operation has.
struct Excerpt {
  std::int64_t first_sample = 0;
  // Values of each sample, in NCHW order, before the first that the slot has.
  std::map<Slot, std::int64_t> skipped{};
};

class OperationInstance {
 public:
  // Throws OutOfMemory.
  OperationInstance(std::unique_ptr<Operation> operation, Device& device, std::uint64_t seed,
                    const Excerpt& excerpt = {});

  const Operation& operation() const { return *operation_; }
  void run() { operation_->run(pointers_); }
  // Overwrites the result with bytes that read as NaN in every dtype.
  void poison();
  // The result as fp32: samples one after another in NCHW, or plain weights.
  std::vector<float> output();
  // The rows of these numbers, one after another, where the result has `count` of them and each lies in its
  // own bytes; else nullopt. Only these come from the device.
  std::optional<std::vector<float>> rows_of_output(std::span<const std::int64_t> rows, std::int64_t count);
  // Whether every value of the result is finite, as the device finds; false too where it has no memory left
  // to note that in.
  bool output_is_finite();

 private:
  const SlotInfo& result() const;
  void upload_samples(const SlotInfo& slot, std::uint64_t seed, const Excerpt& excerpt);

  Device& device_;
  std::unique_ptr<Operation> operation_;
  std::vector<Buffer> buffers_;
  SlotPointers pointers_;
};

// Throws OutOfMemory where a batch's bytes could not be counted: from 1 PiB on, far below 2^63.
void refuse_uncountable(std::int64_t batch, double sample_bytes);

// Bytes of an operation's slots, by category.
MemoryPlan plan_of(const Operation& operation);
// A step of it; parameters and their gradients count as fixed bytes.
Work work_of(const Operation& operation, std::int64_t batch);

}  // namespace bench::kernels
