// Maxima over windows, and their gradient. In training the forward pass saves which tap of the window was the
// maximum, r · kernel width + s, stored as dst is: one Tap an element.
#pragma once

#include "kernels/cuda/units.cuh"
#include "kernels/pool/windows.cuh"

namespace bench::kernels::cuda {

template <class Element, int kCount, class Tap, bool kSave>
struct MaxPool {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "max pool";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Units units;  // of dst
  SlidingWindows rows;
  SlidingWindows columns;
  const Stored* src;
  Stored* dst;
  Tap* saved;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    const int top = rows.begin(static_cast<int>(unit.y));
    const int left = columns.begin(static_cast<int>(unit.x));
    const Range h = rows.inputs(static_cast<int>(unit.y));
    const Range w = columns.inputs(static_cast<int>(unit.x));
    float largest[kCount] = {};
    int taps[kCount] = {};
    bool first = true;
    for (int y = h.first; y < h.last; ++y) {
      const std::int64_t row = (std::int64_t{unit.n} * rows.in + y) * columns.in;
      for (int x = w.first; x < w.last; ++x) {
        float values[kCount];
        load_values<Element>(src + ((row + x) * units.columns() + unit.column) * kCount, values);
        const int tap = (y - top) * columns.kernel + (x - left);
        for (int i = 0; i < kCount; ++i) {
          if (first || values[i] > largest[i]) {
            largest[i] = values[i];
            taps[i] = tap;
          }
        }
        first = false;
      }
    }
    store_values<Element>(dst + std::int64_t{index} * kCount, largest);
    if constexpr (kSave) {
      Words<kCount* static_cast<int>(sizeof(Tap))> words{};
      for (int i = 0; i < kCount; ++i) {
        put(words, i, static_cast<Tap>(taps[i]));
      }
      Memory::store(saved + std::int64_t{index} * kCount, words);
    }
  }
};

// Every input collects from the windows that chose it, so that nothing is added to by two threads.
template <class Element, int kCount, class Tap>
struct MaxPoolGradient {
  static constexpr int kThreads = Units::kThreads;
  static constexpr const char* kName = "max pool backward";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Units units;  // of diff_src
  SlidingWindows rows;
  SlidingWindows columns;
  const Stored* diff_dst;
  const Tap* saved;
  Stored* diff_src;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t index = Units::index(thread);
    if (index >= units.count()) {
      return;
    }
    const Unit unit = units.at(index);
    const Range p = rows.windows(static_cast<int>(unit.y));
    const Range q = columns.windows(static_cast<int>(unit.x));
    float sum[kCount] = {};
    for (int y = p.first; y < p.last; ++y) {
      const std::int64_t row = (std::int64_t{unit.n} * rows.out + y) * columns.out;
      for (int x = q.first; x < q.last; ++x) {
        const std::int64_t at = ((row + x) * units.columns() + unit.column) * kCount;
        const auto tap = static_cast<Tap>((static_cast<int>(unit.y) - rows.begin(y)) * columns.kernel +
                                          (static_cast<int>(unit.x) - columns.begin(x)));
        const auto taps = Memory::template load<kCount* static_cast<int>(sizeof(Tap))>(saved + at);
        float gradient[kCount];
        load_values<Element>(diff_dst + at, gradient);
        for (int i = 0; i < kCount; ++i) {
          sum[i] += element<Tap>(taps, i) == tap ? gradient[i] : 0.0F;
        }
      }
    }
    store_values<Element>(diff_src + std::int64_t{index} * kCount, sum);
  }
};

}  // namespace bench::kernels::cuda
