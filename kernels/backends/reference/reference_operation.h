// The base of the reference implementations: slow and obvious, the oracle every other one is compared with.
// It also serves implementations of our own that pack nothing.
//
// Tensors are read into plain fp32 in NCHW order whatever their layout and dtype, sums are made in double,
// and only the result is rounded to the tensor's dtype. Packed parameters are the plain ones, in fp32 or in
// the dtype.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/operations/operation.h"

namespace bench::kernels {

class ReferenceOperation : public Operation {
 public:
  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  void pack(Slot slot, std::span<const float> plain, void* packed) override;
  void unpack(Slot slot, const void* packed, std::span<float> plain) override;
  std::string algorithm() const override { return "reference"; }

 protected:
  void add_activation(Slot slot, Role role, const TensorDesc& tensor);
  // Parameters and their gradients; values() needs them in fp32, read_values() does not.
  void add_values(Slot slot, Role role, std::int64_t count, Dtype dtype = Dtype::fp32);
  // What only this implementation understands.
  void add_opaque(Slot slot, Role role, std::int64_t bytes, std::int64_t alignment = kSlotAlignment);
  void mark_looked_up(Slot slot, std::int64_t bytes);  // see SlotInfo

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

  std::vector<SlotInfo> slots_;
  std::map<Slot, Dtype> dtypes_;  // of parameters
};

// What is wrong with a description, where it can be wrong.
template <class Spec>
std::optional<std::string> invalid(const Spec& spec) {
  if constexpr (requires { spec.invalid(); }) {
    return spec.invalid();
  } else {
    return std::nullopt;
  }
}

// An implementation on the CPU whose class `Made` is constructed from the description. `preference` below 0:
// chosen only by name.
template <class Spec, class Made>
Implementation<Spec> cpu_implementation(
    const std::string& name, int preference,
    std::function<std::optional<std::string>(const Spec&, const Device&)> unsupported) {
  return {.name = name,
          .device_kind = "cpu",
          .preference = preference,
          .unsupported =
              [unsupported = std::move(unsupported)](const Spec& spec, const Device& device) {
                const auto wrong = invalid(spec);
                return wrong ? wrong : unsupported(spec, device);
              },
          .make = [](const Spec& spec, Device& /*device*/) { return std::make_unique<Made>(spec); }};
}

template <class Spec, class Made>
Implementation<Spec> reference_implementation() {
  return cpu_implementation<Spec, Made>(
      "reference", -1, [](const Spec& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
        return std::nullopt;
      });
}

}  // namespace bench::kernels
