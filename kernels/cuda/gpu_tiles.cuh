// kernels/cuda/tiles.cuh on a GPU of compute capability 7.0 or later. For .cu files only; comes behind
// gpu_queue.cuh or gpu.cuh, and before every body.
#pragma once

#include "kernels/cuda/gpu.cuh"
// gpu.cuh first
#include <mma.h>

#include "kernels/cuda/tiles.cuh"

namespace bench::kernels::cuda {

struct GpuTiles {
  template <class Use>
  struct Factor {
    nvcuda::wmma::fragment<Use, kTile, kTile, kTile, __half, nvcuda::wmma::row_major> fragment;
    BENCH_DEVICE void load(const void* values, int stride) {
      nvcuda::wmma::load_matrix_sync(fragment, static_cast<const __half*>(values), stride);
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

}  // namespace bench::kernels::cuda
