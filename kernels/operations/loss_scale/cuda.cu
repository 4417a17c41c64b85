// Loss scaling by our own kernels: what of the gradients is not finite, and the factor of the loss that
// follows.
#include <cfloat>
#include <cmath>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels::cuda {

// Looks for gradients that are not finite. Threads that find one all write the same.
template <class Element>
struct FindOverflowKernel {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "find overflow";
  using Stored = typename Element::Stored;
  static constexpr int kWidth = kLanes<Element>;

  const Stored* gradient;
  std::int64_t count;
  std::int64_t vectors;  // whole accesses, from the start
  LossScale* scale;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    using Share = GridStride<kThreads, 1>;
    bool finite = true;
    Share::each(thread, 0, vectors,
                [&](std::int64_t at) { finite = finite && all_finite<kWidth>(at * kWidth); });
    Share::each(thread, vectors * kWidth, count,
                [&](std::int64_t at) { finite = finite && all_finite<1>(at); });
    if (!finite) {
      scale->overflow = 1;
    }
  }

 private:
  template <int kCount>
  BENCH_DEVICE bool all_finite(std::int64_t at) const {
    float g[kCount];
    load_values<Element>(gradient + at, g);
    bool finite = true;
    for (int i = 0; i < kCount; ++i) {
      finite = finite && fabsf(g[i]) <= FLT_MAX;
    }
    return finite;
  }
};

struct UpdateLossScaleKernel {
  static constexpr int kThreads = 32;
  static constexpr const char* kName = "update loss scale";

  LossScale* scale;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() != 0) {
      return;
    }
    const bool overflow = scale->overflow != 0;
    const std::int32_t good_steps = overflow ? 0 : scale->good_steps + 1;
    const bool grows = good_steps == LossScale::kGrowthInterval;
    scale->factor *= overflow ? 0.5F : grows ? 2.0F : 1.0F;
    scale->overflow = 0;
    scale->good_steps = grows ? 0 : good_steps;
  }
};

template <class Machine>
class FindOverflowOperation final : public KernelOperation<Machine, FindOverflow> {
 public:
  using KernelOperation<Machine, FindOverflow>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      using Kernel = FindOverflowKernel<Element>;
      const auto* const gradient = stored<Element>(pointers, Slot::diff_weights);
      const Kernel kernel{.gradient = gradient,
                          .count = spec_.count,
                          .vectors = whole_accesses<Element>(spec_.count, gradient),
                          .scale = static_cast<LossScale*>(pointers[Slot::loss_scale])};
      this->launch(kernel, blocks_for(blocks_for(spec_.count, kLanes<Element>), Kernel::kThreads));
    });
  }

 private:
  using KernelOperation<Machine, FindOverflow>::spec_;
};

template <class Machine>
class UpdateLossScaleOperation final : public KernelOperation<Machine, UpdateLossScale> {
 public:
  static Dtype dtype_of(const UpdateLossScale& /*spec*/) { return Dtype::fp32; }

  using KernelOperation<Machine, UpdateLossScale>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    this->launch(UpdateLossScaleKernel{static_cast<LossScale*>(pointers[Slot::loss_scale])}, 1);
  }
};

template struct OnGpu<FindOverflowOperation>;
template struct OnGpu<UpdateLossScaleOperation>;

}  // namespace bench::kernels::cuda
