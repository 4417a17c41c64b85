#include "kernels/workloads/operation_instance.h"

#include <algorithm>
#include <limits>
#include <span>
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

// The random stream for fill_random: each sample of each slot has its own.
std::uint64_t stream_of(Slot slot, std::int64_t sample) {
  return static_cast<std::uint64_t>(sample) * static_cast<std::uint64_t>(Slot::count_) +
         static_cast<std::uint64_t>(slot);
}

// A sample whose elements lie in memory in their plain order, so that it may be cut anywhere.
bool is_flat(const TensorDesc& sample) {
  return sample.layout == Layout::nchw || (sample.layout == Layout::nhwc && sample.h * sample.w == 1);
}

bool is_gradient_of_weights(Slot slot) {
  return slot == Slot::diff_weights;
}

}  // namespace

OperationInstance::OperationInstance(std::unique_ptr<Operation> operation, Device& device, std::uint64_t seed,
                                     const Excerpt& excerpt)
    : device_(device), operation_(std::move(operation)) {
  for (const SlotInfo& slot : operation_->slots()) {
    buffers_.push_back(device.allocate(slot.bytes, category_of(slot)));
    pointers_[slot.slot] = buffers_.back().data();
  }
  operation_->prepare();
  for (const SlotInfo& slot : operation_->slots()) {
    if (slot.role == Role::parameter) {
      std::vector<float> values(static_cast<std::size_t>(slot.plain_count));
      fill_random(values, seed, stream_of(slot.slot, 0));
      std::vector<std::byte> packed(static_cast<std::size_t>(slot.bytes));
      operation_->pack(slot.slot, values, packed.data());
      device.upload(pointers_[slot.slot], packed.data(), slot.bytes);
    } else if (slot.role == Role::input) {
      upload_samples(slot, seed, excerpt);
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

// In pieces: whole samples, or parts of one that is longer.
void OperationInstance::upload_samples(const SlotInfo& slot, std::uint64_t seed, const Excerpt& excerpt) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 26;  // bytes; a piece for each sample would take long
  TensorDesc one = slot.tensor;
  one.n = 1;
  const std::int64_t elements = one.elements();
  if (slot.tensor.n * elements == 0) {
    return;
  }
  const auto skipped = excerpt.skipped.find(slot.slot);
  const std::int64_t before = skipped == excerpt.skipped.end() ? 0 : skipped->second;
  const bool cuts = is_flat(one) && one.bytes() > kPiece;
  const std::int64_t length = cuts ? kPiece / bytes_of(one.dtype) : elements;  // of a row of a piece
  const std::int64_t rows = std::clamp<std::int64_t>(kPiece / one.bytes(), 1, slot.tensor.n);
  std::vector<float> values;
  std::vector<std::byte> stored;
  auto* to = static_cast<std::byte*>(pointers_[slot.slot]);
  for (std::int64_t sample = 0; sample < slot.tensor.n; sample += rows) {
    for (std::int64_t first = 0; first < elements; first += length) {
      TensorDesc piece = one;
      piece.n = std::min(rows, slot.tensor.n - sample);
      if (cuts) {
        piece = {.n = 1, .c = std::min(length, elements - first), .layout = Layout::nhwc, .dtype = one.dtype};
      }
      const auto count = static_cast<std::size_t>(piece.elements() / piece.n);
      values.resize(count * static_cast<std::size_t>(piece.n));
#pragma omp parallel for schedule(static) if (piece.n > 1)
      for (std::int64_t row = 0; row < piece.n; ++row) {
        fill_random(std::span(values).subspan(static_cast<std::size_t>(row) * count, count), seed,
                    stream_of(slot.slot, excerpt.first_sample + sample + row),
                    static_cast<std::uint64_t>(before + first));
      }
      stored.resize(static_cast<std::size_t>(piece.bytes()));
      store(piece, values, stored.data());
      device_.upload(to, stored.data(), piece.bytes());
      to += piece.bytes();
    }
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
