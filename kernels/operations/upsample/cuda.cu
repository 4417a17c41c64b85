// Repeating pixels as a copy, and its gradient, in which each pixel collects from those that repeat it.
#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/upsample/upsample.h"

namespace bench::kernels::cuda {

// A thread does a unit of diff_src.
template <class Element, int kCount>
struct UpsampleGradient {
  static constexpr const char* kName = "upsample backward";
  using Stored = typename Element::Stored;

  int factor;
  std::int64_t out_height;
  std::int64_t out_width;
  const Stored* diff_dst;
  Stored* diff_src;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    float sum[kCount] = {};
    for (int dy = 0; dy < factor; ++dy) {
      const std::int64_t row = unit.n * out_height + std::int64_t{unit.y} * factor + dy;
      for (int dx = 0; dx < factor; ++dx) {
        const std::int64_t pixel = row * out_width + std::int64_t{unit.x} * factor + dx;
        float gradient[kCount];
        load_values<Element>(diff_dst + (pixel * unit.columns + unit.column) * kCount, gradient);
        for (int i = 0; i < kCount; ++i) {
          sum[i] += gradient[i];
        }
      }
    }
    store_values<Element>(diff_src + std::int64_t{unit.index} * kCount, sum);
  }
};

template <class Machine>
class UpsampleOperation final : public KernelOperation<Machine, Upsample> {
 public:
  static Dtype dtype_of(const Upsample& spec) { return spec.src.dtype; }
  static Batch batch_of(const Upsample& spec) { return {spec.src.n, elements_of_sample(spec.dst())}; }
  static Upsample of_samples(Upsample spec, std::int64_t samples) {
    spec.src.n = samples;
    return spec;
  }
  static std::optional<std::string> unsupported(const Upsample& spec) { return not_nhwc(spec.dst()); }

  using KernelOperation<Machine, Upsample>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    const TensorDesc& src = spec_.src;
    const TensorDesc dst = spec_.dst();
    if (spec_.forward()) {
      const std::int64_t bytes = dst.c * bytes_of(dst.dtype);
      return copy_pixels<Machine>(
          this->queue(),
          {.from = {.data = pointers[Slot::src], .pitch = bytes, .height = src.h, .width = src.w},
           .to = {.data = pointers[Slot::dst], .pitch = bytes, .height = dst.h, .width = dst.w},
           .samples = dst.n,
           .bytes = bytes,
           .factor = spec_.factor});
    }
    with_element<Machine>(src.dtype, [&]<class Element>() {
      const auto* const diff_dst = stored<Element>(pointers, Slot::diff_dst);
      auto* const diff_src = stored<Element>(pointers, Slot::diff_src);
      with_access<Element>(
          src.c,
          [&]<int kCount>() {
            launch_units(this->queue(), {src.n, src.h, src.w, src.c / kCount},
                         UpsampleGradient<Element, kCount>{static_cast<int>(spec_.factor), dst.h, dst.w,
                                                           diff_dst, diff_src});
          },
          diff_dst, diff_src);
    });
  }

 private:
  using KernelOperation<Machine, Upsample>::spec_;
};

template struct OnGpu<UpsampleOperation>;

}  // namespace bench::kernels::cuda
