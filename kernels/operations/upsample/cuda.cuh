// Repeating pixels as a copy, and its gradient, in which each pixel collects from those that repeat it.
#pragma once

#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/upsample/upsample.h"

namespace bench::kernels::cuda {

template <class Element, int kCount>
struct UpsampleGradient {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "upsample backward";
  using Stored = typename Element::Stored;

  Units units;  // of diff_src
  int factor;
  std::int64_t out_height;
  std::int64_t out_width;
  const Stored* diff_dst;
  Stored* diff_src;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    float sum[kCount] = {};
    for (int dy = 0; dy < factor; ++dy) {
      const std::int64_t row = unit.n * out_height + std::int64_t{unit.y} * factor + dy;
      for (int dx = 0; dx < factor; ++dx) {
        const std::int64_t pixel = row * out_width + std::int64_t{unit.x} * factor + dx;
        float gradient[kCount];
        load_values<Element>(diff_dst + (pixel * units.columns() + unit.column) * kCount, gradient);
        for (int i = 0; i < kCount; ++i) {
          sum[i] += gradient[i];
        }
      }
    }
    store_values<Element>(diff_src + std::int64_t{index} * kCount, sum);
  }
};

template <class Machine>
class UpsampleOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Upsample;
  static Dtype dtype_of(const Upsample& spec) { return spec.src.dtype; }
  static Batch batch_of(const Upsample& spec) { return {spec.src.n, elements_of_sample(spec.dst())}; }
  static Upsample of_samples(Upsample spec, std::int64_t samples) {
    spec.src.n = samples;
    return spec;
  }
  static std::optional<std::string> unsupported(const Upsample& spec) {
    const auto reason = spec.invalid();
    return reason ? reason : not_nhwc(spec.dst());
  }

  UpsampleOperation(const Upsample& spec, Device& device)
      : KernelOperation<Machine>(device, plain_slots(spec)), spec_(spec) {}

  void run(const SlotPointers& pointers) override {
    const TensorDesc& src = spec_.src;
    const TensorDesc dst = spec_.dst();
    if (spec_.forward()) {
      const std::int64_t bytes = dst.c * bytes_of(dst.dtype);
      return copy_pixels<Machine>(this->queue(), {.src = pointers[Slot::src],
                                                  .dst = pointers[Slot::dst],
                                                  .n = dst.n,
                                                  .src_height = src.h,
                                                  .src_width = src.w,
                                                  .dst_height = dst.h,
                                                  .dst_width = dst.w,
                                                  .src_pitch = bytes,
                                                  .dst_pitch = bytes,
                                                  .bytes = bytes,
                                                  .factor = spec_.factor});
    }
    this->with_element(src.dtype, [&]<class Element>() {
      const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
      auto* const diff_src = this->template stored<Element>(pointers, Slot::diff_src);
      with_access<Element>(
          src.c,
          [&]<int kCount>() {
            const Units units(src.n, src.h, src.w, src.c / kCount);
            this->queue().launch(UpsampleGradient<Element, kCount>{units, static_cast<int>(spec_.factor),
                                                                   dst.h, dst.w, diff_dst, diff_src},
                                 units.blocks());
          },
          diff_dst, diff_src);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  Upsample spec_;
};

}  // namespace bench::kernels::cuda
