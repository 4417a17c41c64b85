// The base of the reference implementations: slow and obvious, the oracle every other one is compared with.
// It also serves implementations of our own that pack nothing.
//
// Tensors are read into plain fp32 in NCHW order whatever their layout and dtype, sums are made in double,
// and only the result is rounded to the tensor's dtype. Packed parameters are the plain ones, in fp32 or in
// the dtype.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/operations/operation.h"

namespace bench::kernels {

// The slots of an operation that packs nothing. Those that all such implementations share are declared by
// plain_slots(description), which is defined in the operation's reference.cpp.
class PlainSlots {
 public:
  // src → dst; backward diff_dst → diff_src.
  static PlainSlots without_parameters(bool forward, const TensorDesc& src, const TensorDesc& dst);
  // In the three directions of an operation with weights and, unless `bias` is 0, a bias: see conv2d.h.
  static PlainSlots with_weights(Direction direction, const TensorDesc& src, const TensorDesc& dst,
                                 std::int64_t weights, std::int64_t bias);

  void add_activation(Slot slot, Role role, const TensorDesc& tensor);
  // Parameters and their gradients; ReferenceOperation::values() needs them in fp32, read_values() does not.
  void add_values(Slot slot, Role role, std::int64_t count, Dtype dtype = Dtype::fp32);
  // Bytes in a form of the implementation's own.
  void add_opaque(Slot slot, Role role, std::int64_t bytes, std::int64_t alignment = kSlotAlignment);
  void mark_looked_up(Slot slot, std::int64_t bytes);  // see SlotInfo

 protected:
  std::vector<SlotInfo> slots_;
  std::map<Slot, Dtype> dtypes_;  // of parameters
};

class ReferenceOperation : public Operation, protected PlainSlots {
 public:
  ReferenceOperation() = default;
  explicit ReferenceOperation(PlainSlots slots) : PlainSlots(std::move(slots)) {}

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  void pack(Slot slot, std::span<const float> plain, void* packed) override;
  void unpack(Slot slot, const void* packed, std::span<float> plain) override;
  std::string algorithm() const override { return "reference"; }

 protected:
  // An activation's values, in NCHW order.
  std::vector<float> read(const SlotPointers& pointers, Slot slot) const;
  void write(const SlotPointers& pointers, Slot slot, std::span<const float> nchw) const;
  // A parameter's values, in place.
  std::span<float> values(const SlotPointers& pointers, Slot slot) const;
  // A parameter's values, out of and into the dtype it is stored in.
  std::vector<float> read_values(const SlotPointers& pointers, Slot slot) const;
  void write_values(const SlotPointers& pointers, Slot slot, std::span<const float> plain) const;

 private:
  const SlotInfo& info(Slot slot) const;
  // A parameter slot as a tensor of one row. Throws where it does not hold `count` values.
  TensorDesc row(Slot slot, std::size_t count) const;
};

// A reference operation with the slots that its description declares. Derived classes implement run().
template <class Spec>
class ReferenceOf : public ReferenceOperation {
 public:
  explicit ReferenceOf(const Spec& spec) : ReferenceOperation(plain_slots(spec)), spec_(spec) {}
  double flops() const override { return spec_.flops(); }

 protected:
  Spec spec_;  // NOLINT
};

// The same for one of our own loops on the CPU.
template <class Spec>
class LoopsOf : public ReferenceOf<Spec> {
 public:
  using ReferenceOf<Spec>::ReferenceOf;
  std::string algorithm() const override { return "openmp"; }
};

// Chosen only by name, unless `preference` says otherwise.
template <class Spec, class Made>
Implementation<Spec> reference_implementation(int preference = -1) {
  return cpu_implementation<Spec, Made>(
      "reference", preference,
      [](const Spec& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
        return std::nullopt;
      });
}

}  // namespace bench::kernels
