// Pooling and its gradient by kernels of our own. In training a maximum saves which tap of the window it was,
// r · kernel width + s, stored as dst is: one Tap an element.
#include <cstdint>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/pool/pool.h"

namespace bench::kernels::cuda {

// From first up to, not including, last.
struct Range {
  int first;
  int last;
};

// Windows along an axis, as the kernels ask for them: inputs(o) are the real inputs of window o, step()
// apart; counted(o, inputs) as many as an average divides by; tap(o, i) the tap that reads input i;
// windows(i) those that reach i, of which the ones with reads(o, i) have a tap on it.

// Windows of one size, equally far apart; padding lies outside 0 to `in` and is not covered.
struct SlidingWindows {
  int in;
  int out;
  int kernel;
  int pad;
  Divider stride;

  // Where tap 0 lies, which may be padding.
  BENCH_DEVICE int begin(int o) const { return o * static_cast<int>(stride.divisor()) - pad; }
  BENCH_DEVICE Range inputs(int o) const {
    const int first = begin(o);
    return {first < 0 ? 0 : first, first + kernel > in ? in : first + kernel};
  }
  BENCH_DEVICE Range windows(int i) const {
    const int reach = i + pad;
    const int first = reach < kernel
                          ? 0
                          : static_cast<int>(stride.quotient(static_cast<std::uint32_t>(reach - kernel))) + 1;
    const int last = static_cast<int>(stride.quotient(static_cast<std::uint32_t>(reach))) + 1;
    return {first, last > out ? out : last};
  }
  static BENCH_DEVICE int step() { return 1; }
  BENCH_DEVICE int counted(int /*o*/, const Range& inputs) const { return inputs.last - inputs.first; }
  BENCH_DEVICE int tap(int o, int i) const { return i - begin(o); }
  static BENCH_DEVICE bool reads(int /*o*/, int /*i*/) { return true; }
};

// The same whose taps lie `dilation` apart, and whose averages may count the padding, up to `counted_end`.
struct SpreadWindows {
  SlidingWindows spans;  // `kernel` of them is the window's span
  int kernel;            // taps
  int counted_end;       // 0 where padding does not count
  Divider dilation;

  BENCH_DEVICE int step() const { return static_cast<int>(dilation.divisor()); }
  // Rounded up.
  BENCH_DEVICE int steps(int distance) const {
    return static_cast<int>(dilation.quotient(static_cast<std::uint32_t>(distance + step() - 1)));
  }
  BENCH_DEVICE Range inputs(int o) const {
    const int first = spans.begin(o);
    return {first < 0 ? first + steps(-first) * step() : first, spans.inputs(o).last};
  }
  BENCH_DEVICE Range windows(int i) const { return spans.windows(i); }
  BENCH_DEVICE int counted(int o, const Range& inputs) const {
    if (counted_end == 0) {
      return steps(inputs.last - inputs.first);
    }
    const int taps = steps(counted_end - spans.begin(o));
    return taps < kernel ? taps : kernel;
  }
  BENCH_DEVICE int tap(int o, int i) const {
    return static_cast<int>(dilation.quotient(static_cast<std::uint32_t>(i - spans.begin(o))));
  }
  BENCH_DEVICE bool reads(int o, int i) const { return tap(o, i) * step() == i - spans.begin(o); }
};

// Windows of adaptive pooling: o covers ⌊o·in/out⌋ to ⌈(o+1)·in/out⌉.
struct AdaptiveWindows {
  Divider in;
  Divider out;

  static BENCH_DEVICE Range parts(int i, const Divider& whole, const Divider& cut) {
    const auto at = static_cast<std::uint32_t>(i);
    return {static_cast<int>(cut.quotient(at * whole.divisor())),
            static_cast<int>(cut.quotient((at + 1) * whole.divisor() + cut.divisor() - 1))};
  }
  BENCH_DEVICE Range inputs(int o) const { return parts(o, in, out); }
  BENCH_DEVICE Range windows(int i) const { return parts(i, out, in); }
  static BENCH_DEVICE int step() { return 1; }
  static BENCH_DEVICE int counted(int /*o*/, const Range& inputs) { return inputs.last - inputs.first; }
  static BENCH_DEVICE bool reads(int /*o*/, int /*i*/) { return true; }
};

// Calls visit(y, x, place) for each pixel of these rows and columns, so many apart: `place` is where the
// unit's channels of it begin, in a tensor of this height and width.
template <int kCount, class Visit>
BENCH_DEVICE void for_each_pixel(const Unit& unit, const Range& rows, const Range& columns, int row_step,
                                 int column_step, std::int64_t height, std::int64_t width,
                                 const Visit& visit) {
  for (int y = rows.first; y < rows.last; y += row_step) {
    const std::int64_t row = (unit.n * height + y) * width;
    for (int x = columns.first; x < columns.last; x += column_step) {
      visit(y, x, ((row + x) * unit.columns + unit.column) * kCount);
    }
  }
}

// A thread does a unit of dst.
template <class Element, int kCount, class Windows>
struct AveragePool {
  static constexpr const char* kName = "average pool";
  using Stored = typename Element::Stored;

  Windows rows;
  Windows columns;
  std::int64_t in_height;
  std::int64_t in_width;
  const Stored* src;
  Stored* dst;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const Range h = rows.inputs(static_cast<int>(unit.y));
    const Range w = columns.inputs(static_cast<int>(unit.x));
    float sum[kCount] = {};
    const auto add = [&](int, int, std::int64_t place) {
      float values[kCount];
      load_values<Element>(src + place, values);
      for (int i = 0; i < kCount; ++i) {
        sum[i] += values[i];
      }
    };
    for_each_pixel<kCount>(unit, h, w, rows.step(), columns.step(), in_height, in_width, add);
    const float share = 1.0F / static_cast<float>(rows.counted(static_cast<int>(unit.y), h) *
                                                  columns.counted(static_cast<int>(unit.x), w));
    for (int i = 0; i < kCount; ++i) {
      sum[i] *= share;
    }
    store_values<Element>(dst + std::int64_t{unit.index} * kCount, sum);
  }
};

// A thread does a unit of diff_src: every input collects its shares, so that nothing is added to by two
// threads.
template <class Element, int kCount, class Windows>
struct AveragePoolGradient {
  static constexpr const char* kName = "average pool backward";
  using Stored = typename Element::Stored;

  Windows rows;
  Windows columns;
  std::int64_t out_height;
  std::int64_t out_width;
  const Stored* diff_dst;
  Stored* diff_src;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const Range p = rows.windows(static_cast<int>(unit.y));
    const Range q = columns.windows(static_cast<int>(unit.x));
    float sum[kCount] = {};
    for_each_pixel<kCount>(unit, p, q, 1, 1, out_height, out_width, [&](int y, int x, std::int64_t place) {
      if (!rows.reads(y, static_cast<int>(unit.y)) || !columns.reads(x, static_cast<int>(unit.x))) {
        return;
      }
      const Range h = rows.inputs(y);
      const Range w = columns.inputs(x);
      const float share = 1.0F / static_cast<float>(rows.counted(y, h) * columns.counted(x, w));
      float gradient[kCount];
      load_values<Element>(diff_dst + place, gradient);
      for (int i = 0; i < kCount; ++i) {
        sum[i] += gradient[i] * share;
      }
    });
    store_values<Element>(diff_src + std::int64_t{unit.index} * kCount, sum);
  }
};

// A thread does a unit of dst.
template <class Element, int kCount, class Windows, class Tap, bool kSave>
struct MaxPool {
  static constexpr const char* kName = "max pool";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Windows rows;
  Windows columns;
  std::int64_t in_height;
  std::int64_t in_width;
  int row_taps;
  const Stored* src;
  Stored* dst;
  Tap* saved;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const Range h = rows.inputs(static_cast<int>(unit.y));
    const Range w = columns.inputs(static_cast<int>(unit.x));
    float largest[kCount] = {};
    int taps[kCount] = {};
    bool first = true;
    const auto compare = [&](int y, int x, std::int64_t place) {
      float values[kCount];
      load_values<Element>(src + place, values);
      const int tap =
          rows.tap(static_cast<int>(unit.y), y) * row_taps + columns.tap(static_cast<int>(unit.x), x);
      for (int i = 0; i < kCount; ++i) {
        if (first || values[i] > largest[i]) {
          largest[i] = values[i];
          taps[i] = tap;
        }
      }
      first = false;
    };
    for_each_pixel<kCount>(unit, h, w, rows.step(), columns.step(), in_height, in_width, compare);
    store_values<Element>(dst + std::int64_t{unit.index} * kCount, largest);
    if constexpr (kSave) {
      Vector<kCount* static_cast<int>(sizeof(Tap))> words{};
      for (int i = 0; i < kCount; ++i) {
        put(words, i, static_cast<Tap>(taps[i]));
      }
      Memory::store(saved + std::int64_t{unit.index} * kCount, words);
    }
  }
};

// A thread does a unit of diff_src: every input collects from the windows that chose it.
template <class Element, int kCount, class Windows, class Tap>
struct MaxPoolGradient {
  static constexpr const char* kName = "max pool backward";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Windows rows;
  Windows columns;
  std::int64_t out_height;
  std::int64_t out_width;
  int row_taps;
  const Stored* diff_dst;
  const Tap* saved;
  Stored* diff_src;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const Range p = rows.windows(static_cast<int>(unit.y));
    const Range q = columns.windows(static_cast<int>(unit.x));
    float sum[kCount] = {};
    for_each_pixel<kCount>(unit, p, q, 1, 1, out_height, out_width, [&](int y, int x, std::int64_t place) {
      if (!rows.reads(y, static_cast<int>(unit.y)) || !columns.reads(x, static_cast<int>(unit.x))) {
        return;
      }
      const auto tap = static_cast<Tap>(rows.tap(y, static_cast<int>(unit.y)) * row_taps +
                                        columns.tap(x, static_cast<int>(unit.x)));
      const auto taps = Memory::template load<kCount* static_cast<int>(sizeof(Tap))>(saved + place);
      float gradient[kCount];
      load_values<Element>(diff_dst + place, gradient);
      for (int i = 0; i < kCount; ++i) {
        sum[i] += element<Tap>(taps, i) == tap ? gradient[i] : 0.0F;
      }
    });
    store_values<Element>(diff_src + std::int64_t{unit.index} * kCount, sum);
  }
};

// A byte an output where it can tell a window's taps apart.
inline bool taps_fit_bytes(const Pool& spec) {
  return spec.kernel_h * spec.kernel_w <= 256;
}

template <class Machine>
class PoolOperation final : public KernelOperation<Machine, Pool> {
 public:
  static Dtype dtype_of(const Pool& spec) { return spec.src.dtype; }
  static Batch batch_of(const Pool& spec) {
    return {spec.src.n, std::max(elements_of_sample(spec.src), elements_of_sample(spec.dst()))};
  }
  static Pool of_samples(Pool spec, std::int64_t samples) {
    spec.src.n = samples;
    return spec;
  }
  static std::optional<std::string> unsupported(const Pool& spec) {
    if (spec.kernel_h * spec.kernel_w > 65536) {
      return "the CUDA kernels pool over at most 65536 inputs";
    }
    // Products of two sizes stay ints.
    if (spec.kind == Pool::Kind::adaptive &&
        std::max({spec.src.h, spec.src.w, spec.height, spec.width}) > 16384) {
      return "the CUDA kernels pool adaptively over at most 16384 rows and columns";
    }
    const auto reason = not_nhwc(spec.src);
    return reason ? reason : not_nhwc(spec.dst());
  }

  PoolOperation(const Pool& spec, Device& device) : KernelOperation<Machine, Pool>(spec, device) {
    for (SlotInfo& slot : this->slots_) {
      if (slot.slot == Slot::saved) {
        slot.bytes = spec.dst().elements() * (taps_fit_bytes(spec) ? 1 : 2);
      }
    }
  }

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.src.dtype, [&]<class Element>() {
      auto* const inner = stored<Element>(pointers, spec_.forward() ? Slot::src : Slot::diff_src);
      auto* const outer = stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_dst);
      auto* const saved = static_cast<std::byte*>(spec_.saves() ? pointers[Slot::saved] : nullptr);
      const auto run = [&]<int kCount>() {
        if (spec_.kind == Pool::Kind::adaptive) {
          average<Element, kCount>(AdaptiveWindows{Divider(spec_.src.h), Divider(spec_.height)},
                                   AdaptiveWindows{Divider(spec_.src.w), Divider(spec_.width)}, inner, outer);
        } else if (is_spread(spec_)) {
          over<Element, kCount>(spread(spec_.rows(), spec_.pad_bottom),
                                spread(spec_.columns(), spec_.pad_right), inner, outer, saved);
        } else {
          over<Element, kCount>(sliding(spec_.rows()), sliding(spec_.columns()), inner, outer, saved);
        }
      };
      with_access<Element>(spec_.src.c, run, inner, outer, saved);
    });
  }

 private:
  static bool is_spread(const Pool& spec) {
    return spec.count_padding || spec.dilation_h > 1 || spec.dilation_w > 1;
  }
  static SlidingWindows sliding(const WindowAxis& axis) {
    return {static_cast<int>(axis.in), static_cast<int>(axis.out), static_cast<int>(axis.reach()),
            static_cast<int>(axis.pad), Divider(axis.stride)};
  }
  // `end`: padding after the input, beyond that in front of it.
  SpreadWindows spread(const WindowAxis& axis, std::int64_t end) const {
    return {sliding(axis), static_cast<int>(axis.kernel),
            spec_.count_padding ? static_cast<int>(axis.in + axis.pad + end) : 0, Divider(axis.dilation)};
  }
  // The units of what the pass writes.
  Units units(int count) const {
    const TensorDesc written = spec_.forward() ? spec_.dst() : spec_.src;
    return {written.n, written.h, written.w, written.c / count};
  }

  template <class Element, int kCount, class Windows, class Stored>
  void over(const Windows& rows, const Windows& columns, Stored* inner, Stored* outer,
            std::byte* saved) const {
    if (spec_.kind == Pool::Kind::average) {
      average<Element, kCount>(rows, columns, inner, outer);
    } else if (taps_fit_bytes(spec_)) {
      maximum<Element, kCount, std::uint8_t>(rows, columns, inner, outer, saved);
    } else {
      maximum<Element, kCount, std::uint16_t>(rows, columns, inner, outer, saved);
    }
  }

  template <class Element, int kCount, class Windows, class Stored>
  void average(const Windows& rows, const Windows& columns, Stored* inner, Stored* outer) const {
    if (spec_.forward()) {
      launch_units(
          this->queue(), units(kCount),
          AveragePool<Element, kCount, Windows>{rows, columns, spec_.src.h, spec_.src.w, inner, outer});
    } else {
      launch_units(this->queue(), units(kCount),
                   AveragePoolGradient<Element, kCount, Windows>{rows, columns, spec_.out_height(),
                                                                 spec_.out_width(), outer, inner});
    }
  }

  template <class Element, int kCount, class Tap, class Windows, class Stored>
  void maximum(const Windows& rows, const Windows& columns, Stored* inner, Stored* outer,
               std::byte* saved) const {
    auto* const taps = reinterpret_cast<Tap*>(saved);
    const auto row_taps = static_cast<int>(spec_.kernel_w);
    if (!spec_.forward()) {
      launch_units(this->queue(), units(kCount),
                   MaxPoolGradient<Element, kCount, Windows, Tap>{
                       rows, columns, spec_.out_height(), spec_.out_width(), row_taps, outer, taps, inner});
    } else if (spec_.training) {
      launch_units(this->queue(), units(kCount),
                   MaxPool<Element, kCount, Windows, Tap, true>{rows, columns, spec_.src.h, spec_.src.w,
                                                                row_taps, inner, outer, taps});
    } else {
      launch_units(this->queue(), units(kCount),
                   MaxPool<Element, kCount, Windows, std::uint8_t, false>{
                       rows, columns, spec_.src.h, spec_.src.w, row_taps, inner, outer, nullptr});
    }
  }

  using KernelOperation<Machine, Pool>::spec_;
};

template struct OnGpu<PoolOperation>;

}  // namespace bench::kernels::cuda
