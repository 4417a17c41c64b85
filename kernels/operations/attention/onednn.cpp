// Attention and its gradient by oneDNN's matrix products and softmax, a sample at a time: so scratch does not
// grow with the batch, and a sample's scores stay in the cache between the steps.
//
// The heads' matrices are read and written where they lie, by strides. Scores and their gradient are made in
// fp32 whatever the dtype. They are scaled and masked between product and softmax by a loop of our own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_call.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/attention/attention.h"
#include "kernels/operations/element.h"

namespace bench::kernels {
namespace {

using DataType = dnnl::memory::data_type;
using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

constexpr DataType kWide = DataType::f32;
constexpr std::int64_t kAlignment = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::string described(const Attention& spec) {
  return fmt::format("attention {} {} {} heads of {}, sequence {}{}",
                     !spec.forward() ? "backward"
                     : spec.training ? "training"
                                     : "inference",
                     name_of(spec.dtype), spec.heads, spec.head_size, spec.sequence,
                     spec.key_count() == spec.sequence ? "" : fmt::format(" by {} keys", spec.key_count()));
}

class OnednnAttention final : public ReferenceOf<Attention> {
 public:
  explicit OnednnAttention(const Attention& spec) : ReferenceOf(spec) {
    onednn::translated(described(spec),
                       [&] { calls_ = spec.forward() ? forward_calls() : backward_calls(); });
    // Scratch: the fp32 scores, but where P is saved in fp32 they are made in its place, or dP; P where it is
    // narrower and not saved, or dS, which overwrites dP where it is as wide; the primitives' own.
    const bool narrow = is_narrow();
    const std::int64_t wide_bytes = spec.saves() && !narrow ? 0 : aligned(4 * square_values());
    const std::int64_t narrow_bytes =
        narrow && !spec.saves() ? aligned(square_values() * bytes_of(spec.dtype)) : 0;
    narrow_at_ = wide_bytes;
    own_at_ = wide_bytes + narrow_bytes;
    std::int64_t own = 0;
    for (const onednn::PrimitiveCall& call : calls_) {
      own = std::max(own, call.scratch_bytes());
    }
    if (own_at_ + own > 0) {
      add_opaque(Slot::workspace, Role::scratch, own_at_ + own);
    }
  }

  void prepare() override {
    onednn::translated(described(spec_), [&] {
      for (onednn::PrimitiveCall& call : calls_) {
        call.prepare();
      }
    });
  }

  void run(const SlotPointers& pointers) override {
    onednn::translated(described(spec_), [&] {
      for (std::int64_t n = 0; n < spec_.batch; ++n) {
        SlotPointers sample;
        for (const SlotInfo& slot : slots_) {
          const std::int64_t step = slot.role == Role::scratch ? 0 : slot.bytes / spec_.batch;
          sample[slot.slot] = static_cast<std::byte*>(pointers[slot.slot]) + n * step;
        }
        if (spec_.forward()) {
          forward(sample);
        } else {
          backward(sample);
        }
      }
    });
  }

  std::string algorithm() const override {
    return spec_.forward() ? calls_[kScores].algorithm() + "+" + calls_[kSoftmax].algorithm()
                           : calls_[kDiffProbabilities].algorithm();
  }

 private:
  enum Forward : std::size_t { kScores, kSoftmax, kMix };
  enum Backward : std::size_t { kDiffValue, kDiffProbabilities, kDiffQuery, kDiffKey };

  std::vector<onednn::PrimitiveCall> forward_calls() const {
    const dnnl::memory::dims rows{spec_.heads * spec_.sequence, spec_.key_count()};
    return {onednn::product(queries(), transposed_keys(), square(kWide)),
            onednn::row_softmax({rows, kWide, Tag::ab}, {rows, stored(), Tag::ab}),
            onednn::product(square(stored()), keys(), results())};
  }
  std::vector<onednn::PrimitiveCall> backward_calls() const {
    const std::int64_t length = spec_.sequence;
    const MemoryDesc square_transposed{{spec_.heads, spec_.key_count(), length},
                                       stored(),
                                       {length * spec_.key_count(), 1, spec_.key_count()}};
    return {onednn::product(square_transposed, results(), keys()),
            onednn::product(results(), transposed_keys(), square(kWide)),
            onednn::product(square(stored()), keys(), queries()),
            onednn::product(square_transposed, queries(), keys())};
  }

  void forward(const SlotPointers& sample) {
    auto* const scratch = static_cast<std::byte*>(sample[Slot::workspace]);
    void* const p = spec_.saves() ? sample[Slot::saved] : scratch + (is_narrow() ? narrow_at_ : 0);
    void* const scores = is_narrow() ? scratch : p;
    std::byte* const own = scratch + own_at_;
    const auto src = [&](std::size_t which) { return part_of(spec_, sample, kAttentionInputs, which); };
    calls_[kScores].run({src(0), src(1), scores, own});
    scale_and_mask(static_cast<float*>(scores));
    calls_[kSoftmax].run({scores, p, own});
    calls_[kMix].run({p, src(2), sample[Slot::dst], own});
  }

  void backward(const SlotPointers& sample) {
    auto* const dp = static_cast<std::byte*>(sample[Slot::workspace]);
    std::byte* const ds = is_narrow() ? dp + narrow_at_ : dp;
    std::byte* const own = dp + own_at_;
    const auto src = [&](std::size_t which) { return part_of(spec_, sample, kAttentionInputs, which); };
    const auto made = [&](std::size_t which) { return part_of(spec_, sample, kAttentionGradients, which); };
    void* const p = sample[Slot::saved];
    calls_[kDiffValue].run({p, sample[Slot::diff_dst], made(2), own});
    calls_[kDiffProbabilities].run({sample[Slot::diff_dst], src(2), dp, own});
    with_element(spec_.dtype, [&]<class Element>() { score_gradient<Element>(p, dp, ds); });
    calls_[kDiffQuery].run({ds, src(1), made(0), own});
    calls_[kDiffKey].run({ds, src(0), made(1), own});
  }

  void scale_and_mask(float* scores) const {
    const auto scale = static_cast<float>(spec_.factor());
    const std::int64_t size = spec_.key_count();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < spec_.heads * spec_.sequence; ++row) {
      float* const x = scores + row * size;
      const std::int64_t seen = spec_.seen(row % spec_.sequence);
#pragma omp simd
      for (std::int64_t j = 0; j < seen; ++j) {
        x[j] *= scale;
      }
      std::fill(x + seen, x + size, -std::numeric_limits<float>::infinity());
    }
  }

  template <class Element>
  void score_gradient(const void* probabilities, const void* products, void* gradient) const {
    using Stored = typename Element::Stored;
    const auto scale = static_cast<float>(spec_.factor());
    const std::int64_t size = spec_.key_count();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < spec_.heads * spec_.sequence; ++row) {
      const auto* const p = static_cast<const Stored*>(probabilities) + row * size;
      const auto* const dp = static_cast<const float*>(products) + row * size;
      auto* const ds = static_cast<Stored*>(gradient) + row * size;
      const std::int64_t seen = spec_.seen(row % spec_.sequence);
      float along = 0;
#pragma omp simd reduction(+ : along)
      for (std::int64_t j = 0; j < seen; ++j) {
        along += Element::to(p[j]) * dp[j];
      }
#pragma omp simd
      for (std::int64_t j = 0; j < seen; ++j) {
        ds[j] = Element::from(Element::to(p[j]) * (dp[j] - along) * scale);
      }
      std::fill(ds + seen, ds + size, Element::from(0.0F));
    }
  }

  std::int64_t square_values() const {
    return spec_.heads * spec_.sequence * spec_.key_count();
  }
  bool is_narrow() const {
    return spec_.dtype != Dtype::fp32;
  }

  // oneDNN's view of the matrices of a sample's heads: [heads][positions][head_size] within rows, keys or
  // values as [heads][head_size][keys] too, and [heads][sequence][keys].
  MemoryDesc heads(std::int64_t positions, std::int64_t row) const {
    return {{spec_.heads, positions, spec_.head_size}, stored(), {spec_.head_size, row, 1}};
  }
  MemoryDesc queries() const {
    return heads(spec_.sequence, spec_.row());
  }
  MemoryDesc keys() const {
    return heads(spec_.key_count(), spec_.row());
  }
  MemoryDesc results() const {
    return heads(spec_.sequence, spec_.width());
  }
  MemoryDesc transposed_keys() const {
    return {{spec_.heads, spec_.head_size, spec_.key_count()}, stored(), {spec_.head_size, 1, spec_.row()}};
  }
  MemoryDesc square(DataType type) const {
    return {{spec_.heads, spec_.sequence, spec_.key_count()}, type, Tag::abc};
  }
  DataType stored() const {
    return onednn::type_of(spec_.dtype);
  }

  std::vector<onednn::PrimitiveCall> calls_;
  // In the scratch, after the fp32 squares.
  std::int64_t narrow_at_ = 0;
  std::int64_t own_at_ = 0;
};

const Registration<Implementation<Attention>> BENCH_REGISTERED{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Attention& spec, const Device& device) -> std::optional<std::string> {
      if (const auto wrong = spec.invalid()) {
        return wrong;
      }
      return spec.statistics ? "it keeps probabilities" : device.unsupported(spec.dtype);
    },
    .make = [](const Attention& spec, Device& /*device*/) { return std::make_unique<OnednnAttention>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
