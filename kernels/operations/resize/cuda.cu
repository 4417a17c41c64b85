// Resizing and its gradient by kernels of our own: a thread does a unit of what is written. Pixels that are
// repeated are copied.
#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/resize/taps.cuh"

namespace bench::kernels::cuda {

// Maps of accesses of kCount elements.
template <class Element, int kCount>
struct AccessMaps {
  using Words = Vector<kBytesOf<Element, kCount>>;

  const typename Element::Stored* maps;
  std::uint32_t height;
  std::uint32_t width;

  // The first pixel of a row of a unit's sample.
  BENCH_DEVICE std::uint32_t row(const Unit& unit, std::int32_t y) const {
    return (unit.n * height + static_cast<std::uint32_t>(y)) * width;
  }
  // The unit's channels at a pixel of a row.
  BENCH_DEVICE Words load(const Unit& unit, std::uint32_t row, std::int32_t x) const {
    const std::uint32_t access = (row + static_cast<std::uint32_t>(x)) * unit.columns + unit.column;
    return load_vector<Element, kCount>(maps + std::int64_t{access} * kCount);
  }
  // sum += weight · what was loaded.
  static BENCH_DEVICE void add(const Words& words, float weight, float (&sum)[kCount]) {
    float values[kCount];
    unpack<Element>(words, values);
    for (int i = 0; i < kCount; ++i) {
      sum[i] += weight * values[i];
    }
  }
};

template <class Element, int kCount, Resize::Kind kKind>
struct ResizeMaps {
  static constexpr const char* kName = "resize";
  static constexpr int kTaps = TapAxis<kKind>::kTaps;

  TapAxis<kKind> rows;
  TapAxis<kKind> columns;
  AccessMaps<Element, kCount> src;
  typename Element::Stored* dst;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const auto of_rows = rows.taps(rows.place(static_cast<std::int32_t>(unit.y)));
    const auto of_columns = columns.taps(columns.place(static_cast<std::int32_t>(unit.x)));
    typename Element::Stored* const to = dst + std::int64_t{unit.index} * kCount;
    if constexpr (kTaps == 1) {
      Element::Memory::store(to, src.load(unit, src.row(unit, of_rows.pixels[0]), of_columns.pixels[0]));
    } else {
      float sum[kCount] = {};
      BENCH_UNROLL
      for (int i = 0; i < kTaps; ++i) {
        const std::uint32_t row = src.row(unit, of_rows.pixels[i]);
        BENCH_UNROLL
        for (int j = 0; j < kTaps; ++j) {
          src.add(src.load(unit, row, of_columns.pixels[j]), of_rows.weights[i] * of_columns.weights[j], sum);
        }
      }
      store_values<Element>(to, sum);
    }
  }
};

// Every input collects its shares, so that nothing is added to by two threads.
template <class Element, int kCount, Resize::Kind kKind>
struct ResizeGradient {
  static constexpr const char* kName = "resize backward";
  static constexpr int kAhead = 2;  // pixels read before the first is needed

  TapAxis<kKind> rows;
  TapAxis<kKind> columns;
  AccessMaps<Element, kCount> diff_dst;
  typename Element::Stored* diff_src;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const auto y = static_cast<std::int32_t>(unit.y);
    const auto x = static_cast<std::int32_t>(unit.x);
    const auto p = rows.outputs_of(y);
    const auto q = columns.outputs_of(x);
    const auto of_y = rows.pixels_of(y);
    const auto of_x = columns.pixels_of(x);
    auto of_row = rows.place(p.first);
    const auto first = columns.place(q.first);
    float sum[kCount] = {};
    for (std::int32_t from_y = p.first; from_y < p.last; ++from_y) {
      const std::uint32_t row = diff_dst.row(unit, from_y);
      const float weight = rows.weight(of_row, of_y);
      auto of_column = first;
      BENCH_ROLLED
      for (std::int32_t from_x = q.first; from_x < q.last; from_x += kAhead) {
        typename AccessMaps<Element, kCount>::Words words[kAhead] = {};
        BENCH_UNROLL
        for (int u = 0; u < kAhead; ++u) {
          if (from_x + u < q.last) {
            words[u] = diff_dst.load(unit, row, from_x + u);
          }
        }
        BENCH_UNROLL
        for (int u = 0; u < kAhead; ++u) {
          diff_dst.add(words[u], weight * columns.weight(of_column, of_x), sum);
          of_column = columns.after(of_column);
        }
      }
      of_row = rows.after(of_row);
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
    if (const auto factor = spec_.factor(); factor && spec_.forward()) {
      const std::int64_t pixel = spec_.src.c * bytes_of(spec_.src.dtype);
      return copy_pixels<Machine>(this->queue(),
                                  {.from = {pointers[Slot::src], pixel, spec_.rows.in, spec_.columns.in},
                                   .to = {pointers[Slot::dst], pixel, spec_.rows.out, spec_.columns.out},
                                   .samples = spec_.src.n,
                                   .bytes = pixel,
                                   .factor = *factor});
    }
    with_element<Machine>(spec_.src.dtype, [&]<class Element>() {
      const auto* const from = stored<Element>(pointers, spec_.forward() ? Slot::src : Slot::diff_dst);
      auto* const to = stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_src);
      const TensorDesc written = spec_.forward() ? spec_.dst() : spec_.src;
      const TensorDesc given = spec_.forward() ? spec_.src : spec_.dst();
      with_access<Element>(
          written.c,
          [&]<int kCount>() {
            const Units units{written.n, written.h, written.w, written.c / kCount};
            const AccessMaps<Element, kCount> maps{from, static_cast<std::uint32_t>(given.h),
                                                   static_cast<std::uint32_t>(given.w)};
            with_kind(spec_.kind, [&]<Resize::Kind kKind>() {
              const TapAxis<kKind> rows(spec_, spec_.rows);
              const TapAxis<kKind> columns(spec_, spec_.columns);
              if (spec_.forward()) {
                launch_units(this->queue(), units,
                             ResizeMaps<Element, kCount, kKind>{rows, columns, maps, to});
              } else {
                launch_units(this->queue(), units,
                             ResizeGradient<Element, kCount, kKind>{rows, columns, maps, to});
              }
            });
          },
          from, to);
    });
  }

 private:
  using KernelOperation<Machine, Resize>::spec_;
};

template struct OnGpu<ResizeOperation>;

}  // namespace bench::kernels::cuda
