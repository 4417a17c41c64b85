#include "kernels/backends/reference/reference_operation.h"

#include <algorithm>
#include <stdexcept>

namespace bench::kernels {

PlainSlots PlainSlots::without_parameters(bool forward, const TensorDesc& src, const TensorDesc& dst) {
  PlainSlots slots;
  slots.add_activation(forward ? Slot::src : Slot::diff_dst, Role::input, forward ? src : dst);
  slots.add_activation(forward ? Slot::dst : Slot::diff_src, Role::output, forward ? dst : src);
  return slots;
}

PlainSlots PlainSlots::with_weights(Direction direction, const TensorDesc& src, const TensorDesc& dst,
                                    std::int64_t weights, std::int64_t bias) {
  PlainSlots slots;
  if (direction != Direction::backward_weights) {
    slots = without_parameters(direction == Direction::forward, src, dst);
    slots.add_values(Slot::weights, Role::parameter, weights);
  } else {
    slots.add_activation(Slot::src, Role::input, src);
    slots.add_activation(Slot::diff_dst, Role::input, dst);
    slots.add_values(Slot::diff_weights, Role::output, weights);
  }
  if (bias > 0) {
    const bool forward = direction == Direction::forward;
    slots.add_values(forward ? Slot::bias : Slot::diff_bias, forward ? Role::parameter : Role::output, bias);
  }
  return slots;
}

void PlainSlots::add_activation(Slot slot, Role role, const TensorDesc& tensor) {
  slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
}

void PlainSlots::add_values(Slot slot, Role role, std::int64_t count, Dtype dtype) {
  slots_.push_back({.slot = slot, .role = role, .bytes = count * bytes_of(dtype), .plain_count = count});
  dtypes_[slot] = dtype;
}

void PlainSlots::add_opaque(Slot slot, Role role, std::int64_t bytes, std::int64_t alignment) {
  slots_.push_back({.slot = slot, .role = role, .bytes = bytes, .alignment = alignment});
}

void PlainSlots::mark_looked_up(Slot slot, std::int64_t bytes) {
  std::ranges::find(slots_, slot, &SlotInfo::slot)->looked_up = bytes;
}

const SlotInfo& ReferenceOperation::info(Slot slot) const {
  const SlotInfo* found = find(slot);
  if (found == nullptr) {
    throw std::invalid_argument("the operation has no slot " + std::string(name_of(slot)));
  }
  return *found;
}

TensorDesc ReferenceOperation::row(Slot slot, std::size_t count) const {
  if (info(slot).plain_count != static_cast<std::int64_t>(count)) {
    throw std::invalid_argument("the wrong number of values for " + std::string(name_of(slot)));
  }
  // Opaque slots have no dtype, and no value to convert.
  const auto dtype = dtypes_.find(slot);
  return {1,
          1,
          1,
          static_cast<std::int64_t>(count),
          Layout::nchw,
          dtype == dtypes_.end() ? Dtype::fp32 : dtype->second};
}

void ReferenceOperation::pack(Slot slot, std::span<const float> plain, void* packed) {
  store(row(slot, plain.size()), plain, packed);
}

void ReferenceOperation::unpack(Slot slot, const void* packed, std::span<float> plain) {
  load(row(slot, plain.size()), packed, plain);
}

std::vector<float> ReferenceOperation::read(const SlotPointers& pointers, Slot slot) const {
  const TensorDesc& tensor = info(slot).tensor;
  std::vector<float> nchw(static_cast<std::size_t>(tensor.elements()));
  load(tensor, pointers[slot], nchw);
  return nchw;
}

void ReferenceOperation::write(const SlotPointers& pointers, Slot slot, std::span<const float> nchw) const {
  store(info(slot).tensor, nchw, pointers[slot]);
}

std::span<float> ReferenceOperation::values(const SlotPointers& pointers, Slot slot) const {
  return {static_cast<float*>(pointers[slot]), static_cast<std::size_t>(info(slot).plain_count)};
}

std::vector<float> ReferenceOperation::read_values(const SlotPointers& pointers, Slot slot) const {
  std::vector<float> plain(static_cast<std::size_t>(info(slot).plain_count));
  load(row(slot, plain.size()), pointers[slot], plain);
  return plain;
}

void ReferenceOperation::write_values(const SlotPointers& pointers, Slot slot,
                                      std::span<const float> plain) const {
  store(row(slot, plain.size()), plain, pointers[slot]);
}

}  // namespace bench::kernels
