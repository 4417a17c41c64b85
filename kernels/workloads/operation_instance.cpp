#include "kernels/workloads/operation_instance.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels {
namespace {

constexpr std::byte kPoison{0xFF};  // all ones is a NaN in every dtype

MemoryCategory category_of(const SlotInfo& slot) {
  switch (slot.slot) {
    case Slot::weights:
    case Slot::bias:
      return MemoryCategory::weights;
    case Slot::diff_weights:
      return MemoryCategory::gradients;
    case Slot::workspace:
      return MemoryCategory::workspace;
    default:
      return slot.role == Role::input ? MemoryCategory::input : MemoryCategory::activations;
  }
}

std::vector<float> random_values(std::int64_t count, std::uint64_t seed, Slot slot, std::int64_t sample = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_random(
      values, seed,
      static_cast<std::uint64_t>(slot) * OperationInstance::kDistinct + static_cast<std::uint64_t>(sample));
  return values;
}

bool is_gradient_of_weights(Slot slot) {
  return slot == Slot::diff_weights;
}

}  // namespace

OperationInstance::OperationInstance(std::unique_ptr<Operation> operation, Device& device, std::uint64_t seed,
                                     std::int64_t first_sample)
    : device_(device), operation_(std::move(operation)) {
  for (const SlotInfo& slot : operation_->slots()) {
    buffers_.push_back(device.allocate(slot.bytes, category_of(slot)));
    pointers_[slot.slot] = buffers_.back().data();
  }
  operation_->prepare();
  for (const SlotInfo& slot : operation_->slots()) {
    if (slot.role == Role::parameter) {
      std::vector<std::byte> packed(static_cast<std::size_t>(slot.bytes));
      operation_->pack(slot.slot, random_values(slot.plain_count, seed, slot.slot), packed.data());
      device.upload(pointers_[slot.slot], packed.data(), slot.bytes);
    } else if (slot.role == Role::input) {
      upload_samples(slot, seed, first_sample);
    }
  }
}

void OperationInstance::poison() {
  device_.fill(pointers_[result().slot], kPoison, result().bytes);
}

std::vector<float> OperationInstance::output() {
  device_.synchronize();
  const SlotInfo& slot = result();
  std::vector<std::byte> stored(static_cast<std::size_t>(slot.bytes));
  device_.download(stored.data(), pointers_[slot.slot], slot.bytes);
  if (is_gradient_of_weights(slot.slot)) {
    std::vector<float> values(static_cast<std::size_t>(slot.plain_count));
    operation_->unpack(slot.slot, stored.data(), values);
    return values;
  }
  std::vector<float> values(static_cast<std::size_t>(slot.tensor.elements()));
  load(slot.tensor, stored.data(), values);
  return values;
}

const SlotInfo& OperationInstance::result() const {
  return *std::ranges::find(operation_->slots(), Role::output, &SlotInfo::role);
}

void OperationInstance::upload_samples(const SlotInfo& slot, std::uint64_t seed, std::int64_t first_sample) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;  // bytes
  TensorDesc one = slot.tensor;
  one.n = 1;
  const std::int64_t distinct = std::min(kDistinct, slot.tensor.n);
  const std::int64_t period = distinct * one.bytes();
  const std::int64_t total = slot.tensor.n * one.bytes();
  if (total == 0) {
    return;
  }
  // Each upload waits for the device: the rows of a product, one by one, would take it a million times.
  const std::int64_t periods = std::clamp<std::int64_t>(kPiece / period, 1, (total + period - 1) / period);
  std::vector<std::byte> piece(static_cast<std::size_t>(periods * period));
  for (std::int64_t n = 0; n < distinct; ++n) {
    const std::int64_t sample = (first_sample + n) % kDistinct;
    store(one, random_values(one.elements(), seed, slot.slot, sample), piece.data() + n * one.bytes());
  }
  for (std::int64_t done = period; done < periods * period; done += period) {
    std::memcpy(piece.data() + done, piece.data(), static_cast<std::size_t>(period));
  }
  for (std::int64_t done = 0; done < total; done += periods * period) {
    device_.upload(static_cast<std::byte*>(pointers_[slot.slot]) + done, piece.data(),
                   std::min(periods * period, total - done));
  }
}

void refuse_uncountable(std::int64_t batch, double sample_bytes) {
  if (static_cast<double>(batch) * sample_bytes > 0x1p50) {
    throw OutOfMemory(
        fmt::format("batch {} would need more than 1 PiB ({:.3g} B a sample)", batch, sample_bytes),
        std::numeric_limits<std::int64_t>::max());
  }
}

MemoryPlan plan_of(const Operation& operation) {
  MemoryPlan memory;
  for (const SlotInfo& slot : operation.slots()) {
    memory.at_peak[category_of(slot)] += slot.bytes;
  }
  memory.peak = memory.at_peak.total();
  return memory;
}

Work work_of(const Operation& operation, std::int64_t batch) {
  Work work;
  work.samples = static_cast<double>(batch);
  work.flops = operation.flops();
  work.launches = 1;
  for (const SlotInfo& slot : operation.slots()) {
    if (slot.role != Role::scratch) {
      const bool fixed = slot.role == Role::parameter || is_gradient_of_weights(slot.slot);
      (fixed ? work.fixed_bytes : work.sample_bytes) += static_cast<double>(slot.bytes);
    }
  }
  return work;
}

}  // namespace bench::kernels
