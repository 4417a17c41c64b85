// Position embeddings on the CPU: rows over OpenMP threads, features in vectors.
#include <algorithm>
#include <array>

#include "kernels/element.h"
#include "kernels/position_embedding/position_embedding.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kBlock = 64;              // features summed at a time, in registers
constexpr std::int64_t kWorthThreads = 1 << 15;  // elements: ten microseconds of adding

class CpuPositionEmbedding final : public ReferenceOperation {
 public:
  explicit CpuPositionEmbedding(const PositionEmbedding& spec) : spec_(spec) {
    if (spec.direction == PositionEmbedding::Direction::forward) {
      add_activation(Slot::src, Role::input, spec.tensor());
      add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
      mark_looked_up(Slot::weights, spec.tensor().bytes());
      add_activation(Slot::dst, Role::output, spec.tensor());
    } else {
      add_activation(Slot::diff_dst, Role::input, spec.tensor());
      add_values(Slot::diff_weights, Role::output, spec.weight_count(), spec.dtype);
    }
  }

  void run(const SlotPointers& pointers) override {
    if (spec_.dtype == Dtype::bf16) {
      run_as<Bf16>(pointers);
    } else {
      run_as<Fp32>(pointers);
    }
  }

  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return "openmp"; }

 private:
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    if (spec_.direction == PositionEmbedding::Direction::forward) {
      add<Element>(static_cast<const Stored*>(pointers[Slot::src]),
                   static_cast<const Stored*>(pointers[Slot::weights]),
                   static_cast<Stored*>(pointers[Slot::dst]));
    } else {
      sum<Element>(static_cast<const Stored*>(pointers[Slot::diff_dst]),
                   static_cast<Stored*>(pointers[Slot::diff_weights]));
    }
  }

  template <class Element>
  void add(const typename Element::Stored* src, const typename Element::Stored* table,
           typename Element::Stored* dst) const {
    const std::int64_t rows = spec_.batch * spec_.sequence;
#pragma omp parallel for schedule(static) if (rows * spec_.width >= kWorthThreads)
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto* const x = src + row * spec_.width;
      const auto* const vector = table + row % spec_.sequence * spec_.width;
      auto* const out = dst + row * spec_.width;
#pragma omp simd
      for (std::int64_t i = 0; i < spec_.width; ++i) {
        out[i] = Element::from(Element::to(x[i]) + Element::to(vector[i]));
      }
    }
  }

  template <class Element>
  void sum(const typename Element::Stored* diff_dst, typename Element::Stored* table) const {
    const std::int64_t elements = spec_.batch * spec_.sequence * spec_.width;
#pragma omp parallel for collapse(2) schedule(static) if (elements >= kWorthThreads)
    for (std::int64_t position = 0; position < spec_.positions; ++position) {
      for (std::int64_t feature = 0; feature < spec_.width; feature += kBlock) {
        const std::int64_t features = std::min(kBlock, spec_.width - feature);
        std::array<float, kBlock> sums{};
        for (std::int64_t n = 0; n < spec_.batch && position < spec_.sequence; ++n) {
          const auto* const in = diff_dst + (n * spec_.sequence + position) * spec_.width + feature;
          for (std::int64_t i = 0; i < features; ++i) {
            sums[i] += Element::to(in[i]);
          }
        }
        auto* const out = table + position * spec_.width + feature;
        for (std::int64_t i = 0; i < features; ++i) {
          out[i] = Element::from(sums[i]);
        }
      }
    }
  }

  PositionEmbedding spec_;
};

const Registration<Implementation<PositionEmbedding>> registered{{
    .name = "openmp",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const PositionEmbedding& spec,
                      const Device& device) { return device.unsupported(spec.dtype); },
    .make = [](const PositionEmbedding& spec,
               Device& /*device*/) { return std::make_unique<CpuPositionEmbedding>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
