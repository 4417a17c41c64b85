// Gradient of ReLU, ReLU6 and leaky ReLU where it comes in two parts, on the CPU: both are read once, added
// and cut in one pass. By itself the sum would be written and read once more, and memory is what limits it.
#include <algorithm>
#include <limits>

#include "kernels/element.h"
#include "kernels/reference/reference_operation.h"
#include "kernels/relu/relu_backward.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kBlock = 16384;  // elements a thread takes at a time: some ten microseconds

// dst > 0 passes a gradient on, at or above `top` no more; else it is multiplied with `below`.
struct Rectifier {
  float below;
  float top;
};

template <class Element>
[[gnu::always_inline]] inline void rectify_range(const Rectifier rectifier,
                                                 const typename Element::Stored* const result,
                                                 const typename Element::Stored* const one,
                                                 const typename Element::Stored* const other,
                                                 typename Element::Stored* const gradient,
                                                 const std::int64_t first, const std::int64_t last) {
#pragma omp simd
  for (std::int64_t i = first; i < last; ++i) {
    const float y = Element::to(result[i]);
    const float sum = Element::to(one[i]) + Element::to(other[i]);
    const float above = y < rectifier.top ? 1.0F : 0.0F;
    gradient[i] = Element::from((y > 0.0F ? above : rectifier.below) * sum);
  }
}

// The same for processors that have AVX2: see kernels/optimizer/cpu.cpp.
template <class Element>
[[gnu::target("avx2")]] void rectify_range_avx2(const Rectifier rectifier,
                                                const typename Element::Stored* const result,
                                                const typename Element::Stored* const one,
                                                const typename Element::Stored* const other,
                                                typename Element::Stored* const gradient,
                                                const std::int64_t first, const std::int64_t last) {
  rectify_range<Element>(rectifier, result, one, other, gradient, first, last);
}

class CpuReluBackward final : public ReferenceOperation {
 public:
  explicit CpuReluBackward(const ReluBackward& spec) : spec_(spec) {
    add_activation(Slot::dst, Role::input, spec.tensor);
    add_activation(Slot::diff_dst, Role::input, spec.tensor);
    add_activation(Slot::src1, Role::input, spec.tensor);
    add_activation(Slot::diff_src, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    if (spec_.tensor.dtype == Dtype::bf16) {
      run_as<Bf16>(pointers);
    } else {
      run_as<Fp32>(pointers);
    }
  }

  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return "openmp"; }

 private:
  // Channel padding is zero and stays zero, so the whole stored tensor is walked.
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto* const result = static_cast<const Stored*>(pointers[Slot::dst]);
    const auto* const one = static_cast<const Stored*>(pointers[Slot::diff_dst]);
    const auto* const other = static_cast<const Stored*>(pointers[Slot::src1]);
    auto* const gradient = static_cast<Stored*>(pointers[Slot::diff_src]);
    const Rectifier rectifier{
        .below = spec_.activation == Activation::leaky_relu ? kLeakySlope : 0.0F,
        .top = spec_.activation == Activation::relu6 ? 6.0F : std::numeric_limits<float>::infinity()};
    const std::int64_t count = spec_.tensor.bytes() / static_cast<std::int64_t>(sizeof(Stored));
    const bool avx2 = __builtin_cpu_supports("avx2") != 0;
#pragma omp parallel for schedule(static) if (count > kBlock)
    for (std::int64_t first = 0; first < count; first += kBlock) {
      const std::int64_t last = std::min(first + kBlock, count);
      if (avx2) {
        rectify_range_avx2<Element>(rectifier, result, one, other, gradient, first, last);
      } else {
        rectify_range<Element>(rectifier, result, one, other, gradient, first, last);
      }
    }
  }

  ReluBackward spec_;
};

const Registration<Implementation<ReluBackward>> registered{{
    .name = "openmp",
    .device_kind = "cpu",
    .preference = 5,
    .unsupported = [](const ReluBackward& spec, const Device& device) -> std::optional<std::string> {
      if (!spec.summed) {
        return "the loop cuts a gradient that comes in two parts";
      }
      if (spec.activation == Activation::none || spec.activation == Activation::gelu) {
        return "relu: the activation must be relu, relu6 or leaky_relu";
      }
      return device.unsupported(spec.tensor.dtype);
    },
    .make = [](const ReluBackward& spec,
               Device& /*device*/) { return std::make_unique<CpuReluBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
