// Attention and its gradient by oneDNN's matrix products and softmax, a sample at a time: so scratch does not
// grow with the batch, and a sample's scores stay in the cache between the steps.
//
// The heads' matrices are read and written where they lie, by strides. Scores and their gradient are made in
// fp32 whatever the dtype. They are scaled and masked between product and softmax by a loop of our own.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_call.h"
#include "kernels/operations/attention/attention.h"
#include "kernels/operations/element.h"

namespace bench::kernels {
namespace {

using MemoryDesc = dnnl::memory::desc;

constexpr std::int64_t kAlignment = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::string described(const Attention& spec) {
  return fmt::format("attention {} {} {} heads of {}, sequence {}",
                     !spec.forward() ? "backward"
                     : spec.training ? "training"
                                     : "inference",
                     name_of(spec.dtype), spec.heads, spec.head_size, spec.sequence);
}

// Shared by the two directions: oneDNN's view of the matrices of a sample's heads, and the slots.
class SampleWise : public Operation {
 public:
  std::span<const SlotInfo> slots() const override { return slots_; }
  void pack(Slot slot, std::span<const float> /*plain*/, void* /*packed*/) override { refuse(slot); }
  void unpack(Slot slot, const void* /*packed*/, std::span<float> /*plain*/) override { refuse(slot); }
  double flops() const override { return spec_.flops(); }

  void run(const SlotPointers& pointers) override {
    onednn::translated(described(spec_), [&] {
      for (std::int64_t n = 0; n < spec_.batch; ++n) {
        SlotPointers sample;
        for (const SlotInfo& slot : slots_) {
          const std::int64_t step = slot.role == Role::scratch ? 0 : slot.bytes / spec_.batch;
          sample[slot.slot] = static_cast<std::byte*>(pointers[slot.slot]) + n * step;
        }
        run_sample(sample);
      }
    });
  }

 protected:
  explicit SampleWise(const Attention& spec)
      : spec_(spec),
        stored_(onednn::type_of(spec.dtype)),
        qkv_(heads_of(3 * spec.width())),
        qkv_transposed_(transposed_heads_of(3 * spec.width())),
        out_(heads_of(spec.width())),
        square_(
            MemoryDesc({spec.heads, spec.sequence, spec.sequence}, stored_, dnnl::memory::format_tag::abc)),
        wide_square_(MemoryDesc({spec.heads, spec.sequence, spec.sequence}, dnnl::memory::data_type::f32,
                                dnnl::memory::format_tag::abc)) {}

  virtual void run_sample(const SlotPointers& sample) = 0;

  void add_slot(Slot slot, Role role, const TensorDesc& tensor) {
    slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
  }
  void add_saved(Role role) {
    slots_.push_back({.slot = Slot::saved, .role = role, .bytes = spec_.probabilities().bytes()});
  }
  void add_scratch(std::int64_t bytes) {
    if (bytes > 0) {
      slots_.push_back({.slot = Slot::workspace, .role = Role::scratch, .bytes = bytes});
    }
  }

  std::int64_t square_values() const { return spec_.heads * spec_.sequence * spec_.sequence; }
  bool narrow() const { return spec_.dtype != Dtype::fp32; }
  // Query, key or value (0, 1, 2) of a sample's first head.
  std::byte* part(void* rows, int which) const {
    return static_cast<std::byte*>(rows) + which * spec_.width() * bytes_of(spec_.dtype);
  }

  Attention spec_;
  dnnl::memory::data_type stored_;
  MemoryDesc qkv_;             // [heads][sequence][head_size] within rows of 3 · width
  MemoryDesc qkv_transposed_;  // [heads][head_size][sequence] of the same memory
  MemoryDesc out_;             // [heads][sequence][head_size] within rows of width
  MemoryDesc square_;          // [heads][sequence][sequence]
  MemoryDesc wide_square_;     // the same in fp32

 private:
  MemoryDesc heads_of(std::int64_t row) const {
    return {{spec_.heads, spec_.sequence, spec_.head_size}, stored_, {spec_.head_size, row, 1}};
  }
  MemoryDesc transposed_heads_of(std::int64_t row) const {
    return {{spec_.heads, spec_.head_size, spec_.sequence}, stored_, {spec_.head_size, 1, row}};
  }
  [[noreturn]] static void refuse(Slot slot) {
    throw std::logic_error("attention has no parameters, not even " + std::string(name_of(slot)));
  }

  std::vector<SlotInfo> slots_;
};

class OnednnAttention final : public SampleWise {
 public:
  explicit OnednnAttention(const Attention& spec) : SampleWise(spec) {
    onednn::translated(described(spec), [&] {
      scores_ = onednn::product(qkv_, qkv_transposed_, wide_square_);
      const dnnl::memory::dims rows{spec.heads * spec.sequence, spec.sequence};
      const auto tag = dnnl::memory::format_tag::ab;
      softmax_ = onednn::row_softmax({rows, dnnl::memory::data_type::f32, tag}, {rows, stored_, tag});
      mix_ = onednn::product(square_, qkv_, out_);
    });
    add_slot(Slot::src, Role::input, spec.src());
    if (spec.saves()) {
      add_saved(Role::output);
    }
    add_slot(Slot::dst, Role::output, spec.dst());
    // Scratch: the scores, but where P is saved in fp32 they are made in its place; P itself where it is
    // narrower and not saved; the primitives' own.
    const bool saved = spec.saves();
    const std::int64_t scores = saved && !narrow() ? 0 : aligned(4 * square_values());
    const std::int64_t p = !saved && narrow() ? aligned(square_values() * bytes_of(spec.dtype)) : 0;
    p_offset_ = scores;
    own_offset_ = scores + p;
    add_scratch(own_offset_ +
                std::max({scores_.scratch_bytes(), softmax_.scratch_bytes(), mix_.scratch_bytes()}));
  }

  void prepare() override {
    onednn::translated(described(spec_), [&] {
      scores_.prepare();
      softmax_.prepare();
      mix_.prepare();
    });
  }

  std::string algorithm() const override { return scores_.algorithm() + "+" + softmax_.algorithm(); }

 private:
  void run_sample(const SlotPointers& sample) override {
    auto* const scratch = static_cast<std::byte*>(sample[Slot::workspace]);
    const bool saved = spec_.saves();
    void* const p = saved ? sample[Slot::saved] : narrow() ? scratch + p_offset_ : scratch;
    void* const scores = narrow() ? scratch : p;
    std::byte* const own = scratch + own_offset_;
    scores_.run({part(sample[Slot::src], 0), part(sample[Slot::src], 1), scores, own});
    scale_and_mask(static_cast<float*>(scores));
    softmax_.run({scores, p, own});
    mix_.run({p, part(sample[Slot::src], 2), sample[Slot::dst], own});
  }

  void scale_and_mask(float* scores) const {
    const float scale = 1.0F / std::sqrt(static_cast<float>(spec_.head_size));
    const std::int64_t size = spec_.sequence;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < spec_.heads * size; ++row) {
      float* const x = scores + row * size;
      const std::int64_t seen = row % size + 1;
#pragma omp simd
      for (std::int64_t j = 0; j < seen; ++j) {
        x[j] *= scale;
      }
      std::fill(x + seen, x + size, -std::numeric_limits<float>::infinity());
    }
  }

  onednn::PrimitiveCall scores_;
  onednn::PrimitiveCall softmax_;
  onednn::PrimitiveCall mix_;
  std::int64_t p_offset_ = 0;
  std::int64_t own_offset_ = 0;
};

class OnednnAttentionBackward final : public SampleWise {
 public:
  explicit OnednnAttentionBackward(const Attention& spec)
      : SampleWise(spec),
        ds_offset_(narrow() ? aligned(4 * square_values()) : 0),  // dS overwrites dP where it is as wide
        own_offset_(ds_offset_ + aligned(square_values() * bytes_of(spec.dtype))) {
    const MemoryDesc square_transposed({spec.heads, spec.sequence, spec.sequence}, stored_,
                                       dnnl::memory::format_tag::acb);
    onednn::translated(described(spec), [&] {
      dv_ = onednn::product(square_transposed, out_, qkv_);
      dp_ = onednn::product(out_, qkv_transposed_, wide_square_);
      dq_ = onednn::product(square_, qkv_, qkv_);
      dk_ = onednn::product(square_transposed, qkv_, qkv_);
    });
    add_slot(Slot::src, Role::input, spec.src());
    add_saved(Role::input);
    add_slot(Slot::diff_dst, Role::input, spec.dst());
    add_slot(Slot::diff_src, Role::output, spec.src());
    add_scratch(own_offset_ + std::max({dv_.scratch_bytes(), dp_.scratch_bytes(), dq_.scratch_bytes(),
                                        dk_.scratch_bytes()}));
  }

  void prepare() override {
    onednn::translated(described(spec_), [&] {
      dv_.prepare();
      dp_.prepare();
      dq_.prepare();
      dk_.prepare();
    });
  }

  std::string algorithm() const override { return dp_.algorithm(); }

 private:
  void run_sample(const SlotPointers& sample) override {
    auto* const scratch = static_cast<std::byte*>(sample[Slot::workspace]);
    std::byte* const own = scratch + own_offset_;
    void* const src = sample[Slot::src];
    void* const diff_src = sample[Slot::diff_src];
    void* const p = sample[Slot::saved];
    void* const ds = scratch + ds_offset_;
    dv_.run({p, sample[Slot::diff_dst], part(diff_src, 2), own});
    dp_.run({sample[Slot::diff_dst], part(src, 2), scratch, own});
    with_element(spec_.dtype, [&]<class Element>() { score_gradient<Element>(p, scratch, ds); });
    dq_.run({ds, part(src, 1), part(diff_src, 0), own});
    dk_.run({ds, part(src, 0), part(diff_src, 1), own});
  }

  template <class Element>
  void score_gradient(const void* probabilities, const void* products, void* gradient) const {
    using Stored = typename Element::Stored;
    const float scale = 1.0F / std::sqrt(static_cast<float>(spec_.head_size));
    const std::int64_t size = spec_.sequence;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < spec_.heads * size; ++row) {
      const auto* const p = static_cast<const Stored*>(probabilities) + row * size;
      const auto* const dp = static_cast<const float*>(products) + row * size;
      auto* const ds = static_cast<Stored*>(gradient) + row * size;
      const std::int64_t seen = row % size + 1;
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

  onednn::PrimitiveCall dv_, dp_, dq_, dk_;
  std::int64_t ds_offset_;
  std::int64_t own_offset_;
};

const Registration<Implementation<Attention>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Attention& spec, const Device& device) -> std::optional<std::string> {
      return spec.statistics ? "it keeps probabilities" : device.unsupported(spec.dtype);
    },
    .make = [](const Attention& spec, Device& /*device*/) -> std::unique_ptr<Operation> {
      if (!spec.forward()) {
        return std::make_unique<OnednnAttentionBackward>(spec);
      }
      return std::make_unique<OnednnAttention>(spec);
    },
}};

}  // namespace
}  // namespace bench::kernels
