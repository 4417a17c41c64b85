// Resizing and its gradient by kernels of our own: a thread does a unit of what is written.
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/resize/taps.cuh"

namespace bench::kernels::cuda {

// sum += weight · the unit's channels at a pixel.
template <class Element, int kCount>
BENCH_DEVICE void add_pixel(const Unit& unit, const typename Element::Stored* maps, std::int64_t height,
                            std::int64_t width, std::int64_t y, std::int64_t x, float weight,
                            float (&sum)[kCount]) {
  float values[kCount];
  load_values<Element>(maps + (((unit.n * height + y) * width + x) * unit.columns + unit.column) * kCount,
                       values);
  for (int i = 0; i < kCount; ++i) {
    sum[i] += weight * values[i];
  }
}

template <class Element, int kCount>
struct ResizeMaps {
  static constexpr const char* kName = "resize";
  using Stored = typename Element::Stored;

  TapAxis rows;
  TapAxis columns;
  const Stored* src;
  Stored* dst;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    float sum[kCount] = {};
    rows.each_tap(unit.y, [&](std::int64_t y, float of_row) {
      columns.each_tap(unit.x, [&](std::int64_t x, float of_column) {
        add_pixel<Element, kCount>(unit, src, rows.axis.in, columns.axis.in, y, x, of_row * of_column, sum);
      });
    });
    store_values<Element>(dst + std::int64_t{unit.index} * kCount, sum);
  }
};

// Every input collects its shares, so that nothing is added to by two threads.
template <class Element, int kCount>
struct ResizeGradient {
  static constexpr const char* kName = "resize backward";
  using Stored = typename Element::Stored;

  TapAxis rows;
  TapAxis columns;
  const Stored* diff_dst;
  Stored* diff_src;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    float sum[kCount] = {};
    const TapAxis::Outputs p = rows.outputs_of(unit.y);
    const TapAxis::Outputs q = columns.outputs_of(unit.x);
    for (std::int64_t y = p.first; y < p.last; ++y) {
      const float of_row = rows.weight(y, unit.y);
      for (std::int64_t x = q.first; of_row != 0.0F && x < q.last; ++x) {
        if (const float of_column = columns.weight(x, unit.x); of_column != 0.0F) {
          add_pixel<Element, kCount>(unit, diff_dst, rows.axis.out, columns.axis.out, y, x,
                                     of_row * of_column, sum);
        }
      }
    }
    store_values<Element>(diff_src + std::int64_t{unit.index} * kCount, sum);
  }
};

template <class Machine>
class ResizeOperation final : public KernelOperation<Machine, Resize> {
 public:
  static Dtype dtype_of(const Resize& spec) { return spec.src.dtype; }
  static Batch batch_of(const Resize& spec) {
    return {spec.src.n, std::max(elements_of_sample(spec.src), elements_of_sample(spec.dst()))};
  }
  static Resize of_samples(Resize spec, std::int64_t samples) {
    spec.src.n = samples;
    return spec;
  }
  static std::optional<std::string> unsupported(const Resize& spec) { return not_nhwc(spec.src); }

  using KernelOperation<Machine, Resize>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.src.dtype, [&]<class Element>() {
      const auto* const from = stored<Element>(pointers, spec_.forward() ? Slot::src : Slot::diff_dst);
      auto* const to = stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_src);
      const TensorDesc written = spec_.forward() ? spec_.dst() : spec_.src;
      const TapAxis rows = row_taps(spec_);
      const TapAxis columns = column_taps(spec_);
      with_access<Element>(
          written.c,
          [&]<int kCount>() {
            const Units units{written.n, written.h, written.w, written.c / kCount};
            if (spec_.forward()) {
              launch_units(this->queue(), units, ResizeMaps<Element, kCount>{rows, columns, from, to});
            } else {
              launch_units(this->queue(), units, ResizeGradient<Element, kCount>{rows, columns, from, to});
            }
          },
          from, to);
    });
  }

 private:
  using KernelOperation<Machine, Resize>::spec_;
};

template struct OnGpu<ResizeOperation>;

}  // namespace bench::kernels::cuda
