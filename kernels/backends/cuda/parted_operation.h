// A batch in parts: kernels count in 31 bits, which is fast, and a large card holds tensors of more elements.
// Each part is the same operation on fewer samples. This header is compiled by nvcc too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/operations/operation.h"

namespace bench::kernels::cuda {

// `count` parts of `each` samples, then one of `rest`, if that is not 0.
struct Parts {
  std::int64_t each = 0;
  std::int64_t count = 0;
  std::int64_t rest = 0;

  bool is_whole() const { return count == 1 && rest == 0; }
  bool operator==(const Parts&) const = default;
};

// Parts of at most `most` elements, of about the same size. `each` is a multiple of 16 samples, so that every
// part is aligned as the first; where so many have more elements it is less, and at least one.
Parts parts_of(std::int64_t samples, std::int64_t elements_of_sample, std::int64_t most);

// Runs the parts one after the other, in the memory of the whole batch: inputs and outputs without a plain
// form hold one sample after the other. An output with one is a parameter's gradient, a sum over the batch:
// the first part writes it, later ones write to scratch, and `add` queues the addition.
class PartedOperation final : public Operation {
 public:
  using Make = std::function<std::unique_ptr<Operation>(std::int64_t samples)>;
  using Add = std::function<void(const SlotInfo& slot, void* sum, const void* summand)>;

  PartedOperation(const Parts& parts, const Make& make, Add add = {});

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override;
  void pack(Slot slot, std::span<const float> plain, void* packed) override;
  void unpack(Slot slot, const void* packed, std::span<float> plain) override;
  void run(const SlotPointers& pointers) override;
  bool in_place_sum() const override;
  double flops() const override;
  std::string algorithm() const override { return each_->algorithm(); }

 private:
  void run_part(Operation& part, const SlotPointers& pointers, SlotPointers& at, bool first) const;

  Parts parts_;
  Add add_;
  std::unique_ptr<Operation> each_;
  std::unique_ptr<Operation> rest_;  // nullptr where there is none
  std::vector<SlotInfo> slots_;      // of the whole batch
  std::int64_t summands_at_ = 0;     // in the scratch, after the parts' own
};

}  // namespace bench::kernels::cuda
