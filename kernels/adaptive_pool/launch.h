// Adaptive average pooling and its gradient by our own kernels.
#pragma once

#include "kernels/adaptive_pool/adaptive_pool.h"
#include "kernels/adaptive_pool/adaptive_pool_backward.h"
#include "kernels/adaptive_pool/adaptive_windows.h"
#include "kernels/cuda/kernel_operation.h"
#include "kernels/pool/average.cuh"

namespace bench::kernels::cuda {

inline std::optional<std::string> cannot_pool(const AdaptivePool& spec) {
  if (spec.height < 1 || spec.width < 1 || spec.src.elements() < 1) {
    return "adaptive_pool needs at least one pixel in and out";
  }
  if (spec.src.h > 16384 || spec.src.w > 16384 || spec.height > 16384 || spec.width > 16384) {
    return "the CUDA kernels pool adaptively over at most 16384 rows and columns";  // products of two stay
                                                                                    // ints
  }
  const auto reason = not_nhwc(spec.src);
  return reason ? reason : not_nhwc(spec.dst());
}

inline double adaptive_flops(const AdaptivePool& spec) {
  return static_cast<double>(
      spec.src.n * spec.src.c *
      inputs_averaged(adaptive_windows(spec.src.h, spec.height), adaptive_windows(spec.src.w, spec.width)));
}

template <class Machine>
class AdaptivePoolOperation final : public KernelOperation<Machine> {
 public:
  using Spec = AdaptivePool;
  static Dtype dtype_of(const AdaptivePool& spec) { return spec.src.dtype; }
  static std::optional<std::string> unsupported(const AdaptivePool& spec) { return cannot_pool(spec); }

  AdaptivePoolOperation(const AdaptivePool& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.src);
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.src.dtype, [&]<class Element>() {
      const auto* const src = this->template stored<Element>(pointers, Slot::src);
      auto* const dst = this->template stored<Element>(pointers, Slot::dst);
      const auto run = [&]<int kCount>() {
        const Units units(spec_.src.n, spec_.height, spec_.width, spec_.src.c / kCount);
        const AdaptiveWindows rows{Divider(spec_.src.h), Divider(spec_.height)};
        const AdaptiveWindows columns{Divider(spec_.src.w), Divider(spec_.width)};
        this->queue().launch(AveragePool<Element, kCount, AdaptiveWindows>{units, rows, columns, spec_.src.h,
                                                                           spec_.src.w, src, dst},
                             units.blocks());
      };
      with_access<Element>(spec_.src.c, run, src, dst);
    });
  }

  double flops() const override { return adaptive_flops(spec_); }

 private:
  AdaptivePool spec_;
};

template <class Machine>
class AdaptivePoolBackwardOperation final : public KernelOperation<Machine> {
 public:
  using Spec = AdaptivePoolBackward;
  static Dtype dtype_of(const AdaptivePoolBackward& spec) { return spec.forward.src.dtype; }
  static std::optional<std::string> unsupported(const AdaptivePoolBackward& spec) {
    return cannot_pool(spec.forward);
  }

  AdaptivePoolBackwardOperation(const AdaptivePoolBackward& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec.forward) {
    this->add_activation(Slot::diff_dst, Role::input, spec_.dst());
    this->add_activation(Slot::diff_src, Role::output, spec_.src);
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.src.dtype, [&]<class Element>() {
      const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
      auto* const diff_src = this->template stored<Element>(pointers, Slot::diff_src);
      const auto run = [&]<int kCount>() {
        const Units units(spec_.src.n, spec_.src.h, spec_.src.w, spec_.src.c / kCount);
        const AdaptiveWindows rows{Divider(spec_.src.h), Divider(spec_.height)};
        const AdaptiveWindows columns{Divider(spec_.src.w), Divider(spec_.width)};
        this->queue().launch(
            AveragePoolGradient<Element, kCount, AdaptiveWindows>{units, rows, columns, spec_.height,
                                                                  spec_.width, diff_dst, diff_src},
            units.blocks());
      };
      with_access<Element>(spec_.src.c, run, diff_dst, diff_src);
    });
  }

  double flops() const override { return adaptive_flops(spec_); }

 private:
  AdaptivePool spec_;
};

}  // namespace bench::kernels::cuda
