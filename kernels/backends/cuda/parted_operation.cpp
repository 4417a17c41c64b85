#include "kernels/backends/cuda/parted_operation.h"

#include <algorithm>
#include <utility>

#include "kernels/backends/cuda/library_scratch.h"

namespace bench::kernels::cuda {
namespace {

bool holds_samples(const SlotInfo& slot) {
  return (slot.role == Role::input || slot.role == Role::output) && slot.plain_count == 0;
}

bool sums_over_samples(const SlotInfo& slot) {
  return slot.role == Role::output && slot.plain_count > 0;
}

void* moved(void* data, std::int64_t bytes) {
  return static_cast<std::byte*>(data) + bytes;
}

}  // namespace

Parts parts_of(std::int64_t samples, std::int64_t elements_of_sample, std::int64_t most) {
  constexpr std::int64_t kAligned = 16;
  const std::int64_t largest =
      std::max<std::int64_t>(1, most / std::max<std::int64_t>(elements_of_sample, 1));
  if (elements_of_sample == 0 || samples <= largest) {
    return {.each = samples, .count = 1, .rest = 0};
  }
  const std::int64_t least_count = (samples + largest - 1) / largest;
  std::int64_t each = (samples + least_count - 1) / least_count;
  if (largest >= kAligned) {
    each = std::min((each + kAligned - 1) / kAligned * kAligned, largest / kAligned * kAligned);
  }
  return {.each = each, .count = samples / each, .rest = samples % each};
}

PartedOperation::PartedOperation(const Parts& parts, const Make& make, Add add)
    : parts_(parts),
      add_(std::move(add)),
      each_(make(parts.each)),
      rest_(parts.rest > 0 ? make(parts.rest) : nullptr) {
  const std::int64_t samples = parts.each * parts.count + parts.rest;
  const auto of_all = [&](std::int64_t of_part) { return of_part / parts.each * samples; };
  SlotInfo scratch{.slot = Slot::workspace, .role = Role::scratch};
  for (const Operation* const part : {each_.get(), rest_.get()}) {
    if (const SlotInfo* const own = part == nullptr ? nullptr : part->find(Slot::workspace)) {
      scratch.bytes = std::max(scratch.bytes, before_library_scratch(own->bytes));
      scratch.alignment = std::max(scratch.alignment, own->alignment);
    }
  }
  summands_at_ = scratch.bytes;
  for (SlotInfo slot : each_->slots()) {
    if (slot.slot == Slot::workspace) {
      continue;
    }
    if (holds_samples(slot)) {
      slot.bytes = of_all(slot.bytes);
      slot.tensor.n = of_all(slot.tensor.n);
    } else if (sums_over_samples(slot)) {
      scratch.bytes += before_library_scratch(slot.bytes);
    }
    slot.looked_up = of_all(slot.looked_up);
    slots_.push_back(slot);
  }
  if (scratch.bytes > 0) {
    slots_.push_back(scratch);
  }
}

void PartedOperation::prepare() {
  each_->prepare();
  if (rest_ != nullptr) {
    rest_->prepare();
  }
}

void PartedOperation::pack(Slot slot, std::span<const float> plain, void* packed) {
  each_->pack(slot, plain, packed);
}

void PartedOperation::unpack(Slot slot, const void* packed, std::span<float> plain) {
  each_->unpack(slot, packed, plain);
}

void PartedOperation::run(const SlotPointers& pointers) {
  SlotPointers at = pointers;
  for (std::int64_t part = 0; part < parts_.count; ++part) {
    run_part(*each_, pointers, at, part == 0);
  }
  if (rest_ != nullptr) {
    run_part(*rest_, pointers, at, false);
  }
}

// `at`: the part's pointers; they become the next one's.
void PartedOperation::run_part(Operation& part, const SlotPointers& pointers, SlotPointers& at,
                               bool first) const {
  part.run(at);
  std::int64_t summand_at = summands_at_;
  for (const SlotInfo& slot : part.slots()) {
    if (holds_samples(slot)) {
      at[slot.slot] = moved(at[slot.slot], slot.bytes);
    } else if (sums_over_samples(slot)) {
      if (!first) {
        add_(slot, pointers[slot.slot], at[slot.slot]);
      }
      at[slot.slot] = moved(pointers[Slot::workspace], summand_at);
      summand_at += before_library_scratch(slot.bytes);
    }
  }
}

bool PartedOperation::in_place_sum() const {
  return each_->in_place_sum() && (rest_ == nullptr || rest_->in_place_sum());
}

double PartedOperation::flops() const {
  return static_cast<double>(parts_.count) * each_->flops() + (rest_ == nullptr ? 0 : rest_->flops());
}

}  // namespace bench::kernels::cuda
