// Which inputs a window covers, and which windows cover an input, along one axis.
#pragma once

#include "kernels/cuda/divider.cuh"

namespace bench::kernels::cuda {

// From first up to, not including, last.
struct Range {
  int first;
  int last;
};

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
};

// Windows of kernels/adaptive_pool/adaptive_pool.h: o covers ⌊o·in/out⌋ to ⌈(o+1)·in/out⌉.
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
};

}  // namespace bench::kernels::cuda
