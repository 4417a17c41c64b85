// A parameter's values copied into a value, and back into a gradient.
#include <array>

#include "kernels/backends/cuda/elementwise.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/operations/parameter/parameter.h"

namespace bench::kernels::cuda {

struct AsItIs {
  BENCH_DEVICE float operator()(const float (&x)[1]) const { return x[0]; }
};

template <class Machine>
class ParameterOperation final : public KernelOperation<Machine, Parameter> {
 public:
  using KernelOperation<Machine, Parameter>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const from = stored<Element>(pointers, spec_.forward() ? Slot::weights : Slot::diff_dst);
      auto* const to = stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_weights);
      launch_elementwise<Element>(this->queue(), std::array{from}, to, spec_.count, AsItIs{});
    });
  }

 private:
  using KernelOperation<Machine, Parameter>::spec_;
};

template struct OnGpu<ParameterOperation>;

}  // namespace bench::kernels::cuda
