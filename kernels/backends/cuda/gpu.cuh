// The GPU as the machine that kernel bodies run on (kernels/backends/cuda/vector_access.cuh says what a
// machine is), and the registration of what is made of them. The host's compiler, which has only the tests'
// bodies to compile, finds neither here.
#pragma once

#include "kernels/backends/cuda/kernel_operation.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <nv/target>

#include <cstdint>

#include "bench/device.h"
#include "bench/registry.h"
#include "kernels/backends/cuda/residency.h"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/devices/cuda/card.h"
#endif

namespace bench::kernels::cuda {
#ifdef __CUDACC__

struct GpuMemory {
  template <int kBytes>
  static BENCH_DEVICE Vector<kBytes> load(const void* from) {
    if constexpr (kBytes == 16) {
      const uint4 read = *static_cast<const uint4*>(from);
      return {{read.x, read.y, read.z, read.w}};
    } else if constexpr (kBytes == 8) {
      const uint2 read = *static_cast<const uint2*>(from);
      return {{read.x, read.y}};
    } else if constexpr (kBytes == 4) {
      return {{*static_cast<const std::uint32_t*>(from)}};
    } else if constexpr (kBytes == 2) {
      return {{*static_cast<const std::uint16_t*>(from)}};
    } else {
      static_assert(kBytes == 1, "one access has 1, 2, 4, 8 or 16 bytes");
      return {{*static_cast<const std::uint8_t*>(from)}};
    }
  }

  template <int kBytes>
  static BENCH_DEVICE void store(void* to, const Vector<kBytes>& words) {
    if constexpr (kBytes == 16) {
      // By name: of a plain assignment the compiler sometimes makes four stores.
      __stwb(static_cast<uint4*>(to), make_uint4(words.word[0], words.word[1], words.word[2], words.word[3]));
    } else if constexpr (kBytes == 8) {
      __stwb(static_cast<uint2*>(to), make_uint2(words.word[0], words.word[1]));
    } else if constexpr (kBytes == 4) {
      *static_cast<std::uint32_t*>(to) = words.word[0];
    } else if constexpr (kBytes == 2) {
      *static_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(words.word[0]);
    } else {
      static_assert(kBytes == 1, "one access has 1, 2, 4, 8 or 16 bytes");
      *static_cast<std::uint8_t*>(to) = static_cast<std::uint8_t>(words.word[0]);
    }
  }

  static BENCH_DEVICE float as_float(std::uint32_t bits) { return __uint_as_float(bits); }
  static BENCH_DEVICE std::uint32_t as_bits(float value) { return __float_as_uint(value); }
};

struct GpuFp32 {
  using Memory = GpuMemory;
  using Stored = std::uint32_t;
  static BENCH_DEVICE float to(Stored bits) { return __uint_as_float(bits); }
  static BENCH_DEVICE Stored from(float value) { return __float_as_uint(value); }
};

struct GpuFp16 {
  using Memory = GpuMemory;
  using Stored = std::uint16_t;
  using Multiplied = __half;  // mma.h's type of it
  static BENCH_DEVICE float to(Stored bits) { return __half2float(__ushort_as_half(bits)); }
  static BENCH_DEVICE Stored from(float value) { return __half_as_ushort(__float2half_rn(value)); }
  static BENCH_DEVICE std::uint32_t multiply_add_pair(std::uint32_t x, std::uint32_t by, std::uint32_t plus) {
    return as_bits(__hfma2(as_pair(x), as_pair(by), as_pair(plus)));
  }

 private:
  static BENCH_DEVICE __half2 as_pair(std::uint32_t bits) {
    return __halves2half2(__ushort_as_half(static_cast<Stored>(bits)),
                          __ushort_as_half(static_cast<Stored>(bits >> 16)));
  }
  static BENCH_DEVICE std::uint32_t as_bits(__half2 pair) {
    return __half_as_ushort(__low2half(pair)) |
           static_cast<std::uint32_t>(__half_as_ushort(__high2half(pair))) << 16;
  }
};

struct GpuBf16 {
  using Memory = GpuMemory;
  using Stored = std::uint16_t;
  using Multiplied = __nv_bfloat16;
  static BENCH_DEVICE float to(Stored bits) {
    return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
  }
  static BENCH_DEVICE Stored from(float value) {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __bfloat16_as_ushort(__float2bfloat16_rn(value));),
                      (return rounded(value);))
  }
  static BENCH_DEVICE std::uint32_t multiply_add_pair(std::uint32_t x, std::uint32_t by, std::uint32_t plus) {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return as_bits(__hfma2(as_pair(x), as_pair(by), as_pair(plus)));),
                      (return multiply_add_apart(x, by, plus);))
  }

 private:
  // Cards before sm_80 have no such instructions, nor the headers of CUDA 12.1 functions for them; bf16 is
  // refused on those cards.
  static BENCH_DEVICE Stored rounded(float value) {
    const std::uint32_t bits = __float_as_uint(value);
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    return static_cast<Stored>(is_nan ? 0x7fffU : (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
  }
  static BENCH_DEVICE std::uint32_t multiply_add_apart(std::uint32_t x, std::uint32_t by,
                                                       std::uint32_t plus) {
    const auto low = [](std::uint32_t pair) { return to(static_cast<Stored>(pair)); };
    const auto high = [](std::uint32_t pair) { return to(static_cast<Stored>(pair >> 16)); };
    return from(fmaf(low(x), low(by), low(plus))) |
           static_cast<std::uint32_t>(from(fmaf(high(x), high(by), high(plus)))) << 16;
  }
  static BENCH_DEVICE __nv_bfloat162 as_pair(std::uint32_t bits) {
    __nv_bfloat162 pair;
    memcpy(&pair, &bits, sizeof pair);
    return pair;
  }
  static BENCH_DEVICE std::uint32_t as_bits(__nv_bfloat162 pair) {
    std::uint32_t bits = 0;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
  }
};

struct GpuThread {
  BENCH_DEVICE int index() const { return static_cast<int>(threadIdx.x); }
  BENCH_DEVICE int block() const { return static_cast<int>(blockIdx.x); }
  BENCH_DEVICE int blocks() const { return static_cast<int>(gridDim.x); }
  BENCH_DEVICE void sync() const { __syncthreads(); }
  BENCH_DEVICE void sync_warp() const { __syncwarp(); }
  template <class T>
  BENCH_DEVICE T shuffle_xor(T value, int mask) const {
    return __shfl_xor_sync(0xffffffffU, value, mask);
  }
  template <class T>
  BENCH_DEVICE T& shared() const {
    __shared__ T storage;
    return storage;
  }
};

// A kernel's kResident (kernels/backends/cuda/residency.h); 1 where it promises nothing.
template <class Kernel>
constexpr int least_resident() {
  if constexpr (requires { Kernel::kResident; }) {
    return Kernel::kResident;
  } else {
    return 1;
  }
}

// No more than the architecture that is compiled for has threads for: nvcc would ignore the promise.
constexpr int held_to(int resident, [[maybe_unused]] int threads) {
#ifdef __CUDA_ARCH__
  return std::min(resident, multiprocessor_of(__CUDA_ARCH__ / 10).threads / threads);
#else
  return resident;
#endif
}

// Threads and promise are template arguments so that a kernel's symbol names them: the tests read it.
template <class Kernel, int kThreads = Kernel::kThreads, int kResident = least_resident<Kernel>()>
__global__ void __launch_bounds__(kThreads, held_to(kResident, kThreads))
    run_on_gpu(const __grid_constant__ Kernel kernel) {
  kernel(GpuThread{});
}

template <class Element>
struct GpuTiles {
  using Value = typename Element::Multiplied;
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

class GpuQueue {
 public:
  explicit GpuQueue(const Card& card) : card_(&card) {}
  explicit GpuQueue(const Device& device) : GpuQueue(card_of(device)) {}

  // Queues `blocks` blocks of Kernel::kThreads threads; none where there are none.
  template <class Kernel>
  void launch(const Kernel& kernel, std::int64_t blocks) const {
    if (blocks == 0) {
      return;
    }
    const unsigned grid = grid_of(blocks, Kernel::kName);
    card_->queue(Kernel::kName,
                 [&](CUstream_st* stream) { run_on_gpu<<<grid, Kernel::kThreads, 0, stream>>>(kernel); });
  }

  int multiprocessors() const { return card_->multiprocessors(); }
  std::int64_t threads() const {
    return std::int64_t{multiprocessors()} * multiprocessor_of(card_->compute_capability()).threads;
  }
  template <class Kernel>
  std::int64_t resident() const {
    return std::int64_t{multiprocessors()} * resident_blocks<Kernel>(card_->compute_capability());
  }

 private:
  const Card* card_;
};

struct Gpu {
  using Memory = GpuMemory;
  using Fp32 = GpuFp32;
  using Fp16 = GpuFp16;
  using Bf16 = GpuBf16;
  template <class Element>
  using Tiles = GpuTiles<Element>;
  using Queue = GpuQueue;

  static constexpr const char* kImplementation = "cuda";
  static constexpr const char* kDeviceKind = "cuda";
  static constexpr int kPreference = 10;
  static constexpr std::int64_t kMostCounted = kMostUnits;
  static std::optional<std::string> unsupported(const Device& device, Dtype dtype) {
    return device.unsupported(dtype);
  }
};

#endif

// `template struct OnGpu<PoolOperation>;` at the end of a file registers the operation for CUDA devices. Not
// in a file that only wants the bodies: BENCH_BODIES_ONLY.
template <template <class> class MadeOf>
struct OnGpu {
#if defined(__CUDACC__) && !defined(BENCH_BODIES_ONLY)
  static inline const Registration<decltype(entry<Gpu, MadeOf>())> registered{entry<Gpu, MadeOf>()};
#endif
};

}  // namespace bench::kernels::cuda
