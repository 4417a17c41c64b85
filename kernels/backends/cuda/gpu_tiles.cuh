// kernels/backends/cuda/kernel_operation.h on a GPU of compute capability 7.0 or later; in bf16, 8.0. For .cu
// files only; comes after gpu.cuh, and before every body.
#pragma once

#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include <mma.h>

#include "kernels/backends/cuda/kernel_operation.h"

namespace bench::kernels::cuda {

// mma.h's type of an element.
template <class Element>
struct Multiplied;
template <>
struct Multiplied<GpuFp16> {
  using Type = __half;
};
template <>
struct Multiplied<GpuBf16> {
  using Type = __nv_bfloat16;
};

template <class Element>
struct GpuTiles {
  using Value = typename Multiplied<Element>::Type;
  template <class Use>
  struct Factor {
    nvcuda::wmma::fragment<Use, kTile, kTile, kTile, Value, nvcuda::wmma::row_major> fragment;
    BENCH_DEVICE void load(const void* values, int stride) {
      nvcuda::wmma::load_matrix_sync(fragment, static_cast<const Value*>(values), stride);
    }
  };
  using Left = Factor<nvcuda::wmma::matrix_a>;
  using Right = Factor<nvcuda::wmma::matrix_b>;

  struct Sums {
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kTile, kTile, kTile, float> fragment;
    BENCH_DEVICE void clear(const GpuThread& /*thread*/) { nvcuda::wmma::fill_fragment(fragment, 0.0F); }
    BENCH_DEVICE void add(const Left& left, const Right& right) {
      nvcuda::wmma::mma_sync(fragment, left.fragment, right.fragment, fragment);
    }
    BENCH_DEVICE void store(float* to, int stride) const {
      nvcuda::wmma::store_matrix_sync(to, fragment, stride, nvcuda::wmma::mem_row_major);
    }
  };
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// There mma.h has no bf16: code that is compiled and never run, for such a card refuses the dtype.
template <>
struct GpuTiles<GpuBf16> {
  struct Factor {
    BENCH_DEVICE void load(const void* /*values*/, int /*stride*/) {}
  };
  using Left = Factor;
  using Right = Factor;
  struct Sums {
    BENCH_DEVICE void clear(const GpuThread& /*thread*/) {}
    BENCH_DEVICE void add(const Left& /*left*/, const Right& /*right*/) {}
    BENCH_DEVICE void store(float* /*to*/, int /*stride*/) const {}
  };
};
#endif

struct Gpu;

template <>
struct TilesOf<Gpu> {
  template <class Element>
  using Of = GpuTiles<Element>;
};

}  // namespace bench::kernels::cuda
