// An operation that does nothing: one left out of a training step, or one of which only the slots matter.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/operations/operation.h"

namespace bench::kernels {

class Idle final : public Operation {
 public:
  explicit Idle(std::vector<SlotInfo> slots = {}) : slots_(std::move(slots)) {}
  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  void pack(Slot /*slot*/, std::span<const float> /*plain*/, void* /*packed*/) override {}
  void unpack(Slot /*slot*/, const void* /*packed*/, std::span<float> /*plain*/) override {}
  void run(const SlotPointers& /*pointers*/) override {}
  double flops() const override { return 0; }
  std::string algorithm() const override { return "idle"; }

 private:
  std::vector<SlotInfo> slots_;
};

}  // namespace bench::kernels
