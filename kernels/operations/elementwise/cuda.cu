// Elementwise formulas as our own kernels, in any layout: channel padding is zero, and its result must be
// zero too.
#include <array>

#include "kernels/backends/cuda/activations.cuh"
#include "kernels/backends/cuda/elementwise.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/operations/array.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels::cuda {

// act(x0 [+ x1])
template <class Activate, int kSummands>
struct Activated {
  static constexpr bool kIsLong = cuda::kIsLong<Activate>;

  Activate activate;
  BENCH_DEVICE float operator()(const float (&x)[kSummands]) const {
    if constexpr (kSummands == 2) {
      return activate(x[0] + x[1]);
    } else {
      return activate(x[0]);
    }
  }
};

// act' · (x1 [+ x2]), the slope from x0.
template <class Activate, int kSummands>
struct ActivatedGradient {
  static constexpr bool kIsLong = cuda::kIsLong<Activate>;

  Activate activate;
  BENCH_DEVICE float operator()(const float (&x)[kSummands + 1]) const {
    if constexpr (kSummands == 2) {
      return (x[1] + x[2]) * activate.slope(x[0]);
    } else {
      return x[1] * activate.slope(x[0]);
    }
  }
};

template <class Machine>
class ElementwiseOperation final : public KernelOperation<Machine, Elementwise> {
 public:
  static Dtype dtype_of(const Elementwise& spec) { return spec.tensor.dtype; }

  static std::optional<std::string> unsupported(const Elementwise& spec) {
    return !keeps_zero(spec.activation) && padding_of(array_of(spec.tensor))
               ? std::optional<std::string>("the CUDA kernels would not keep channel padding zero")
               : std::nullopt;
  }

  using KernelOperation<Machine, Elementwise>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.tensor.dtype, [&]<class Element>() {
      with_activation(spec_.activation, [&](const auto& activate) { run_with<Element>(pointers, activate); });
    });
  }

  bool in_place_sum() const override { return spec_.forward() && spec_.summands == 2; }

 private:
  template <class Element, class Activate>
  void run_with(const SlotPointers& pointers, const Activate& activate) const {
    const auto at = [&](Slot slot) -> const auto* {
      return stored<Element>(pointers, slot);
    };
    const auto each = [&](const auto& in, Slot out, const auto& function) {
      launch_elementwise<Element, cuda::kIsLong<Activate> ? 1 : kAccessesAThread>(
          this->queue(), in, stored<Element>(pointers, out), stored_elements(spec_.tensor), function);
    };
    if (spec_.forward() && spec_.summands == 1) {
      each(std::array{at(Slot::src)}, Slot::dst, Activated<Activate, 1>{activate});
    } else if (spec_.forward()) {
      each(std::array{at(Slot::src), at(Slot::src1)}, Slot::dst, Activated<Activate, 2>{activate});
    } else if (spec_.summands == 1) {
      each(std::array{at(spec_.slope_from()), at(Slot::diff_dst)}, Slot::diff_src,
           ActivatedGradient<Activate, 1>{activate});
    } else {
      each(std::array{at(spec_.slope_from()), at(Slot::diff_dst), at(Slot::src1)}, Slot::diff_src,
           ActivatedGradient<Activate, 2>{activate});
    }
  }

  using KernelOperation<Machine, Elementwise>::spec_;
};

template struct OnGpu<ElementwiseOperation>;

}  // namespace bench::kernels::cuda
