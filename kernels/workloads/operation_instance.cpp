#include "kernels/workloads/operation_instance.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/operations/loss_scale/loss_scale.h"

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

// A sample repeats its first values after so many, so that a long one is drawn and uploaded only in part, at
// each make. No power of two: an address that was cut to 31 bits shows another value.
constexpr std::int64_t kPeriod = 4'000'000;

// The values of a sample from its number `first` on.
void draw(std::span<float> values, std::uint64_t seed, std::uint64_t stream, std::int64_t first) {
  while (!values.empty()) {
    const std::int64_t at = first % kPeriod;
    const std::size_t count = std::min(values.size(), static_cast<std::size_t>(kPeriod - at));
    fill_random(values.first(count), seed, stream, static_cast<std::uint64_t>(at));
    values = values.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
}

// A sample whose elements lie in memory in their plain order, so that it may be cut anywhere.
bool is_flat(const TensorDesc& sample) {
  return sample.layout == Layout::nchw || (sample.layout == Layout::nhwc && sample.h * sample.w == 1);
}

bool is_gradient_of_weights(Slot slot) {
  return slot == Slot::diff_weights;
}

// One of a tensor's `count` rows; nullopt where a row is not a whole part of its memory.
std::optional<TensorDesc> row_of(const TensorDesc& tensor, std::int64_t count) {
  TensorDesc sample = tensor;
  sample.n = 1;
  if (count == tensor.n) {
    return sample;
  }
  if (count < 1 || tensor.elements() % count != 0 || !is_flat(sample)) {
    return std::nullopt;
  }
  return TensorDesc{.n = 1, .c = tensor.elements() / count, .dtype = tensor.dtype};
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

std::optional<std::vector<float>> OperationInstance::rows_of_output(std::span<const std::int64_t> rows,
                                                                    std::int64_t count) {
  const SlotInfo& slot = result();
  const auto row = is_gradient_of_weights(slot.slot) ? std::nullopt : row_of(slot.tensor, count);
  if (!row) {
    return std::nullopt;
  }
  device_.synchronize();
  const auto* const from = static_cast<const std::byte*>(pointers_[slot.slot]);
  const auto columns = static_cast<std::size_t>(row->elements());
  std::vector<std::byte> stored(static_cast<std::size_t>(row->bytes()));
  std::vector<float> values(columns * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    device_.download(stored.data(), from + rows[i] * row->bytes(), row->bytes());
    load(*row, stored.data(), std::span(values).subspan(i * columns, columns));
  }
  return values;
}

bool OperationInstance::output_is_finite() {
  Buffer state;
  try {
    state = device_.allocate(sizeof(LossScale), MemoryCategory::other);
  } catch (const OutOfMemory&) {
    return false;
  }
  const SlotInfo& slot = result();
  const std::int64_t element = bytes_of(slot.tensor.dtype);
  // tf32 is stored as fp32.
  const Dtype dtype = element == bytes_of(Dtype::fp32) ? Dtype::fp32 : slot.tensor.dtype;
  const auto look = make_operation(FindOverflow{.count = slot.bytes / element, .dtype = dtype}, device_);
  look->prepare();
  const LossScale clean;
  device_.upload(state.data(), &clean, sizeof(clean));
  SlotPointers pointers;
  pointers[Slot::diff_weights] = pointers_[slot.slot];
  pointers[Slot::loss_scale] = state.data();
  look->run(pointers);
  device_.synchronize();
  LossScale found;
  device_.download(&found, state.data(), sizeof(found));
  return found.overflow == 0;
}

const SlotInfo& OperationInstance::result() const {
  return *std::ranges::find(operation_->slots(), Role::output, &SlotInfo::role);
}

// In pieces of whole samples, or of the values that a longer one repeats.
void OperationInstance::upload_samples(const SlotInfo& slot, std::uint64_t seed, const Excerpt& excerpt) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 26;  // bytes; a piece for each sample would take long
  TensorDesc one = slot.tensor;
  one.n = 1;
  if (slot.tensor.n * one.elements() == 0) {
    return;
  }
  const auto skipped = excerpt.skipped.find(slot.slot);
  const std::int64_t before = skipped == excerpt.skipped.end() ? 0 : skipped->second;
  const bool repeats = is_flat(one) && one.elements() > kPeriod;
  const TensorDesc drawn = repeats ? TensorDesc{.n = 1, .c = kPeriod, .dtype = one.dtype} : one;
  const std::int64_t rows = repeats ? 1 : std::clamp<std::int64_t>(kPiece / one.bytes(), 1, slot.tensor.n);
  const auto count = static_cast<std::size_t>(drawn.elements());
  std::vector<float> values;
  std::vector<std::byte> stored;
  auto* to = static_cast<std::byte*>(pointers_[slot.slot]);
  for (std::int64_t sample = 0; sample < slot.tensor.n; sample += rows) {
    TensorDesc piece = drawn;
    piece.n = std::min(rows, slot.tensor.n - sample);
    values.resize(count * static_cast<std::size_t>(piece.n));
#pragma omp parallel for schedule(static) if (piece.n > 1)
    for (std::int64_t row = 0; row < piece.n; ++row) {
      draw(std::span(values).subspan(static_cast<std::size_t>(row) * count, count), seed,
           stream_of(slot.slot, excerpt.first_sample + sample + row), before);
    }
    stored.resize(static_cast<std::size_t>(piece.bytes()));
    store(piece, values, stored.data());
    device_.upload(to, stored.data(), piece.bytes());
    if (repeats) {
      device_.repeat(to, piece.bytes(), one.bytes());
    }
    to += piece.n * one.bytes();
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
