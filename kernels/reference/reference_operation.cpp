#include "kernels/reference/reference_operation.h"

#include <cstring>
#include <stdexcept>

namespace bench::kernels {

void ReferenceOperation::add_activation(Slot slot, Role role, const TensorDesc& tensor) {
  slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
}

void ReferenceOperation::add_values(Slot slot, Role role, std::int64_t count) {
  slots_.push_back({.slot = slot,
                    .role = role,
                    .bytes = count * static_cast<std::int64_t>(sizeof(float)),
                    .plain_count = count});
}

void ReferenceOperation::add_opaque(Slot slot, Role role, std::int64_t bytes) {
  slots_.push_back({.slot = slot, .role = role, .bytes = bytes});
}

const SlotInfo& ReferenceOperation::info(Slot slot) const {
  const SlotInfo* found = find(slot);
  if (found == nullptr) {
    throw std::invalid_argument("the operation has no slot " + std::string(name_of(slot)));
  }
  return *found;
}

void ReferenceOperation::pack(Slot slot, std::span<const float> plain, void* packed) {
  if (info(slot).plain_count != static_cast<std::int64_t>(plain.size())) {
    throw std::invalid_argument("the wrong number of values for " + std::string(name_of(slot)));
  }
  std::memcpy(packed, plain.data(), plain.size_bytes());
}

void ReferenceOperation::unpack(Slot slot, const void* packed, std::span<float> plain) {
  if (info(slot).plain_count != static_cast<std::int64_t>(plain.size())) {
    throw std::invalid_argument("the wrong number of values for " + std::string(name_of(slot)));
  }
  std::memcpy(plain.data(), packed, plain.size_bytes());
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

}  // namespace bench::kernels
