// Pooling and its gradient by our own kernels.
#pragma once

#include <cstdint>

#include "kernels/cuda/kernel_operation.h"
#include "kernels/pool/average.cuh"
#include "kernels/pool/maximum.cuh"
#include "kernels/pool/pool.h"
#include "kernels/pool/pool_backward.h"

namespace bench::kernels::cuda {

// A byte an output where it can tell a window's taps apart.
inline bool taps_fit_bytes(const Pool& spec) {
  return spec.kernel_h * spec.kernel_w <= 256;
}
inline std::int64_t tap_bytes(const Pool& spec) {
  return spec.dst().elements() * static_cast<std::int64_t>(taps_fit_bytes(spec) ? 1 : sizeof(std::uint16_t));
}

inline SlidingWindows pool_rows(const Pool& spec) {
  return {static_cast<int>(spec.src.h), static_cast<int>(spec.out_height()), static_cast<int>(spec.kernel_h),
          static_cast<int>(spec.pad_h), Divider(spec.stride_h)};
}
inline SlidingWindows pool_columns(const Pool& spec) {
  return {static_cast<int>(spec.src.w), static_cast<int>(spec.out_width()), static_cast<int>(spec.kernel_w),
          static_cast<int>(spec.pad_w), Divider(spec.stride_w)};
}

inline Units units_of(const TensorDesc& tensor, int count) {
  return {tensor.n, tensor.h, tensor.w, tensor.c / count};
}

inline std::optional<std::string> cannot_pool(const Pool& spec) {
  if (const auto reason = spec.invalid()) {
    return reason;
  }
  if (spec.kernel_h * spec.kernel_w > 65536) {
    return "the CUDA kernels pool over at most 65536 inputs";
  }
  const auto reason = not_nhwc(spec.src);
  return reason ? reason : not_nhwc(spec.dst());
}

template <class Machine>
class PoolOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Pool;
  static Dtype dtype_of(const Pool& spec) { return spec.src.dtype; }
  static std::optional<std::string> unsupported(const Pool& spec) { return cannot_pool(spec); }

  PoolOperation(const Pool& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.src);
    this->add_activation(Slot::dst, Role::output, spec.dst());
    if (spec.training && spec.kind == Pool::Kind::max) {
      this->add_opaque(Slot::saved, Role::output, tap_bytes(spec));
    }
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.src.dtype, [&]<class Element>() {
      const auto* const src = this->template stored<Element>(pointers, Slot::src);
      auto* const dst = this->template stored<Element>(pointers, Slot::dst);
      const auto run = [&]<int kCount>() {
        if (spec_.kind == Pool::Kind::average) {
          average<Element, kCount>(src, dst);
        } else if (!spec_.training) {
          maximum<Element, kCount, std::uint8_t, false>(src, dst, nullptr);
        } else if (taps_fit_bytes(spec_)) {
          maximum<Element, kCount, std::uint8_t, true>(src, dst, pointers[Slot::saved]);
        } else {
          maximum<Element, kCount, std::uint16_t, true>(src, dst, pointers[Slot::saved]);
        }
      };
      with_access<Element>(spec_.src.c, run, src, dst, static_cast<const std::byte*>(pointers[Slot::saved]));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Element, int kCount, class Stored>
  void average(const Stored* src, Stored* dst) const {
    const Units units = units_of(spec_.dst(), kCount);
    this->queue().launch(
        AveragePool<Element, kCount, SlidingWindows>{units, pool_rows(spec_), pool_columns(spec_),
                                                     spec_.src.h, spec_.src.w, src, dst},
        units.blocks());
  }

  template <class Element, int kCount, class Tap, bool kSave, class Stored>
  void maximum(const Stored* src, Stored* dst, void* saved) const {
    const Units units = units_of(spec_.dst(), kCount);
    this->queue().launch(MaxPool<Element, kCount, Tap, kSave>{units, pool_rows(spec_), pool_columns(spec_),
                                                              src, dst, static_cast<Tap*>(saved)},
                         units.blocks());
  }

  Pool spec_;
};

template <class Machine>
class PoolBackwardOperation final : public KernelOperation<Machine> {
 public:
  using Spec = PoolBackward;
  static Dtype dtype_of(const PoolBackward& spec) { return spec.forward.src.dtype; }
  static std::optional<std::string> unsupported(const PoolBackward& spec) {
    return cannot_pool(spec.forward);
  }

  PoolBackwardOperation(const PoolBackward& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    if (spec.forward.kind == Pool::Kind::max) {
      this->add_opaque(Slot::saved, Role::input, tap_bytes(spec.forward));
    }
    this->add_activation(Slot::diff_src, Role::output, spec.forward.src);
  }

  void run(const SlotPointers& pointers) override {
    const Pool& forward = spec_.forward;
    this->with_element(forward.src.dtype, [&]<class Element>() {
      const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
      auto* const diff_src = this->template stored<Element>(pointers, Slot::diff_src);
      const auto run = [&]<int kCount>() {
        const Units units = units_of(forward.src, kCount);
        const auto maximum = [&]<class Tap>() {
          this->queue().launch(
              MaxPoolGradient<Element, kCount, Tap>{units, pool_rows(forward), pool_columns(forward),
                                                    diff_dst, static_cast<const Tap*>(pointers[Slot::saved]),
                                                    diff_src},
              units.blocks());
        };
        if (forward.kind == Pool::Kind::average) {
          this->queue().launch(
              AveragePoolGradient<Element, kCount, SlidingWindows>{
                  units, pool_rows(forward), pool_columns(forward), forward.out_height(), forward.out_width(),
                  diff_dst, diff_src},
              units.blocks());
        } else if (taps_fit_bytes(forward)) {
          maximum.template operator()<std::uint8_t>();
        } else {
          maximum.template operator()<std::uint16_t>();
        }
      };
      with_access<Element>(forward.src.c, run, diff_dst, diff_src,
                           static_cast<const std::byte*>(pointers[Slot::saved]));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  PoolBackward spec_;
};

}  // namespace bench::kernels::cuda
