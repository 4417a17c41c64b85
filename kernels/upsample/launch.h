// Repeating pixels as a copy, and its gradient by a kernel of its own.
#pragma once

#include "kernels/cuda/copy_launch.h"
#include "kernels/upsample/upsample.cuh"
#include "kernels/upsample/upsample.h"
#include "kernels/upsample/upsample_backward.h"

namespace bench::kernels::cuda {

inline std::optional<std::string> cannot_upsample(const Upsample& spec) {
  const auto reason = spec.invalid();
  return reason ? reason : not_nhwc(spec.dst());
}

template <class Machine>
class UpsampleOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Upsample;
  static Dtype dtype_of(const Upsample& spec) { return spec.src.dtype; }
  static std::optional<std::string> unsupported(const Upsample& spec) { return cannot_upsample(spec); }

  UpsampleOperation(const Upsample& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.src);
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    const TensorDesc dst = spec_.dst();
    const std::int64_t bytes = dst.c * bytes_of(dst.dtype);
    copy_pixels<Machine>(this->queue(), {.src = pointers[Slot::src],
                                         .dst = pointers[Slot::dst],
                                         .n = dst.n,
                                         .src_height = spec_.src.h,
                                         .src_width = spec_.src.w,
                                         .dst_height = dst.h,
                                         .dst_width = dst.w,
                                         .src_pitch = bytes,
                                         .dst_pitch = bytes,
                                         .bytes = bytes,
                                         .factor = spec_.factor});
  }

  double flops() const override { return 0; }

 private:
  Upsample spec_;
};

template <class Machine>
class UpsampleBackwardOperation final : public KernelOperation<Machine> {
 public:
  using Spec = UpsampleBackward;
  static Dtype dtype_of(const UpsampleBackward& spec) { return spec.forward.src.dtype; }
  static std::optional<std::string> unsupported(const UpsampleBackward& spec) {
    return cannot_upsample(spec.forward);
  }

  UpsampleBackwardOperation(const UpsampleBackward& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    this->add_activation(Slot::diff_src, Role::output, spec.forward.src);
  }

  void run(const SlotPointers& pointers) override {
    const TensorDesc& src = spec_.forward.src;
    const TensorDesc dst = spec_.forward.dst();
    this->with_element(src.dtype, [&]<class Element>() {
      const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
      auto* const diff_src = this->template stored<Element>(pointers, Slot::diff_src);
      with_access<Element>(
          src.c,
          [&]<int kCount>() {
            const Units units(src.n, src.h, src.w, src.c / kCount);
            this->queue().launch(
                UpsampleGradient<Element, kCount>{units, static_cast<int>(spec_.forward.factor), dst.h, dst.w,
                                                  diff_dst, diff_src},
                units.blocks());
          },
          diff_dst, diff_src);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  UpsampleBackward spec_;
};

}  // namespace bench::kernels::cuda
