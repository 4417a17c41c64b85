// Elementwise formulas on the CPU as our own loops, in any layout; memory limits them. (Under AVX2, oneDNN
// 2.6's additions of blocked tensors write past the tensor where a block of channels has padding.)
#include <limits>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/nest_tasks.h"

namespace bench::kernels {
namespace {

// Negative values are multiplied, values above a bound are cut.
struct Rectifier {
  float below;  // factor of negative values
  float upper;

  static Rectifier of(Activation activation) {
    return {.below = activation == Activation::none                  ? 1.0F
                     : activation.kind == ActivationKind::leaky_relu ? activation.alpha
                                                                     : 0.0F,
            .upper = activation == Activation::relu6 ? 6.0F : std::numeric_limits<float>::infinity()};
  }

  [[gnu::always_inline]] float operator()(float x) const {
    const float scaled = below == 0.0F ? 0.0F : below * x;  // 0 · −∞ would be NaN
    const float cut = x > upper ? upper : x;
    return x < 0.0F ? scaled : cut;
  }
  // From the result.
  [[gnu::always_inline]] float slope(float y) const {
    const float above = y < upper ? 1.0F : 0.0F;
    return y > 0.0F ? above : below;
  }
};

// Any other, one element at a time.
struct AnyActivation {
  Activation activation;
  static AnyActivation of(Activation activation) { return {activation}; }
  [[gnu::always_inline]] float operator()(float x) const { return apply(activation, x); }
  [[gnu::always_inline]] float slope(float from) const { return kernels::slope(activation, from); }
};

template <class Element, int kSummands>
struct Summands {
  using Stored = typename Element::Stored;
  const Stored* one;
  const Stored* other;

  [[gnu::always_inline]] float operator()(std::int64_t i) const {
    if constexpr (kSummands == 2) {
      return Element::to(one[i]) + Element::to(other[i]);
    } else {
      return Element::to(one[i]);
    }
  }
};

template <class Element, int kSummands, class Activate>
struct Forward {
  using Stored = typename Element::Stored;
  Summands<Element, kSummands> sum;
  Stored* dst;
  Activate activate;

  [[gnu::always_inline]] void operator()(std::int64_t i) const { dst[i] = Element::from(activate(sum(i))); }
};

template <class Element, int kSummands, class Activate>
struct Backward {
  using Stored = typename Element::Stored;
  Summands<Element, kSummands> sum;
  const Stored* from;
  Stored* diff_src;
  Activate activate;

  [[gnu::always_inline]] void operator()(std::int64_t i) const {
    diff_src[i] = Element::from(activate.slope(Element::to(from[i])) * sum(i));
  }
};

class CpuElementwise final : public LoopsOf<Elementwise> {
 public:
  explicit CpuElementwise(const Elementwise& spec) : LoopsOf(spec) {
    if (!keeps_zero(spec.activation)) {
      padding_ = padding_of(array_of(spec.tensor));
    }
  }

  void run(const SlotPointers& pointers) override {
    with_element(spec_.tensor.dtype, [&]<class Element>() {
      if (is_rectifier(spec_.activation)) {
        run_with<Element, Rectifier>(pointers);
      } else {
        run_with<Element, AnyActivation>(pointers);
      }
      if (padding_) {
        clear<Element>(*padding_, static_cast<typename Element::Stored*>(
                                      pointers[spec_.forward() ? Slot::dst : Slot::diff_src]));
      }
    });
  }

  bool in_place_sum() const override { return spec_.forward() && spec_.summands == 2; }

 private:
  template <class Element, class Activate>
  void run_with(const SlotPointers& pointers) const {
    if (spec_.summands == 2) {
      run_as<Element, 2, Activate>(pointers);
    } else {
      run_as<Element, 1, Activate>(pointers);
    }
  }

  // With channel padding, which is zero: what is made of it is cleared where it is not.
  template <class Element, int kSummands, class Activate>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto at = [&](Slot slot) { return static_cast<Stored*>(pointers[slot]); };
    const std::int64_t count = spec_.tensor.bytes() / static_cast<std::int64_t>(sizeof(Stored));
    const Activate activate = Activate::of(spec_.activation);
    if (spec_.forward()) {
      for_each_element(count, Forward<Element, kSummands, Activate>{
                                  {at(Slot::src), at(Slot::src1)}, at(Slot::dst), activate});
    } else {
      for_each_element(
          count,
          Backward<Element, kSummands, Activate>{
              {at(Slot::diff_dst), at(Slot::src1)}, at(spec_.slope_from()), at(Slot::diff_src), activate});
    }
  }

  std::optional<LoopNest> padding_;
};

const Registration<Implementation<Elementwise>> BENCH_REGISTERED{
    cpu_implementation<Elementwise, CpuElementwise>(
        "openmp", 5,
        [](const Elementwise& spec, const Device& device) { return device.unsupported(spec.tensor.dtype); })};

}  // namespace
}  // namespace bench::kernels
