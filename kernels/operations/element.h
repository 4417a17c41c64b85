// The type in which the CPU's kernels compute a dtype, and loops over arrays of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/dtype.h"
#include "bench/stored.h"

namespace bench::kernels {

// Calls visit with the element that the CPU's kernels compute `dtype` as. Loops over Fp16 are not vectorised.
template <class Visit>
auto with_element(Dtype dtype, Visit visit) {
  switch (dtype) {
    case Dtype::bf16:
      return visit.template operator()<Bf16>();
    case Dtype::fp16:
      return visit.template operator()<Fp16>();
    case Dtype::fp32:
    case Dtype::tf32:
      break;
  }
  return visit.template operator()<Fp32>();
}

inline constexpr std::int64_t kLoopBlock = 16384;  // elements a thread takes at a time: some ten microseconds

template <class Body>
[[gnu::always_inline]] inline void loop_over(const Body body, const std::int64_t first,
                                             const std::int64_t last) {
#pragma omp simd
  for (std::int64_t i = first; i < last; ++i) {
    body(i);
  }
}

// The same for processors that have AVX2. In 16-byte vectors bf16's rounding and a square root take longer
// than the memory does; in wider ones than these nothing is gained.
template <class Body>
[[gnu::target("avx2")]] void loop_over_avx2(const Body body, const std::int64_t first,
                                            const std::int64_t last) {
  loop_over(body, first, last);
}

// body(i) for every i below `count`, in this thread.
template <class Body>
void for_each_in_row(const std::int64_t count, const Body& body) {
  if (__builtin_cpu_supports("avx2") != 0) {
    loop_over_avx2(body, 0, count);
  } else {
    loop_over(body, 0, count);
  }
}

// body(i) for every i below `count`, in any order. Body's operator() is [[gnu::always_inline]], so that it is
// compiled for the processor at hand.
template <class Body>
void for_each_element(const std::int64_t count, const Body& body) {
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
#pragma omp parallel for schedule(static) if (count > kLoopBlock)
  for (std::int64_t first = 0; first < count; first += kLoopBlock) {
    const std::int64_t last = std::min(first + kLoopBlock, count);
    if (avx2) {
      loop_over_avx2(body, first, last);
    } else {
      loop_over(body, first, last);
    }
  }
}

}  // namespace bench::kernels
