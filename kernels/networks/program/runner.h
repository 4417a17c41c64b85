// A planned step on a device: everything allocated, parameters initialised, operations bound to their memory.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/device.h"
#include "kernels/networks/program/plan.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

class ProgramRunner {
 public:
  // Allocates what the plan says. Throws OutOfMemory, and Interrupted.
  ProgramRunner(ProgramPlan plan, Device& device, std::uint64_t seed);

  const ProgramPlan& plan() const { return plan_; }

  // Sample i of the micro-batches, one after the other, becomes samples[i mod samples.size()].
  void set_input(std::span<const Sample> samples);
  // Queues a step.
  void run() { run(0, bound_.size()); }

  // Overwrites the output of inference with bytes that read as NaN in every dtype.
  void poison_output();
  // The output as fp32: see ProgramPlan::load_output. Waits.
  std::vector<float> output();

  // Where a tensor lies; for tests that look inside.
  std::byte* address(TensorId id) const;

 protected:
  void init_parameters();
  // Queues the instructions from `begin` up to, not including, `end`; without `updates` those alone that do
  // not update parameters.
  void run(std::size_t begin, std::size_t end, bool updates = true);
  std::size_t instruction_count() const { return bound_.size(); }
  std::byte* block(BlockId id) const { return blocks_.at(id).data(); }

  Device& device_;    // NOLINT
  ProgramPlan plan_;  // NOLINT

 private:
  void allocate_blocks(bool first);
  void bind();

  std::uint64_t seed_;
  std::vector<Buffer> blocks_;
  Buffer arena_;
  Buffer scratch_;
  std::vector<std::pair<Operation*, SlotPointers>> bound_;
};

}  // namespace bench::kernels
