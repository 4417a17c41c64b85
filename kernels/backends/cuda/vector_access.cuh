// Memory as a kernel body sees it: 1 to 16 bytes at a time, and the stored elements in them.
//
// A body is a template over the machine it runs on: where nvcc compiles it Gpu of
// kernels/backends/cuda/gpu.cuh, else the tests' host machine that runs one fiber a thread. The machine
// brings
//   Memory   load<bytes>(address), store(address, words): one access, aligned to its size; as_float, as_bits
//   Fp32, Fp16, Bf16   an element: Stored (its bits), to(bits), from(float), and Memory again; the 16-bit
//            ones also multiply_add_pair(x, by, plus) for the two elements in a register
//   Tiles<Element>   tensor cores for the 16-bit elements: a warp multiplies tiles of 16 × 16 values and adds
//            the products to sums in fp32. All lanes of the warp must come to every call of
//              Left, Right   load(values, stride): a row-major tile from shared memory, a row `stride`
//                            elements after the one before; from an address aligned to 32 bytes, stride a
//                            multiple of 8
//              Sums          clear(thread), add(left, right), store(floats, stride): as above, stride a
//                            multiple of 4
//   Queue    launch(kernel, blocks); multiprocessors(), threads() and resident<Kernel>(): the multiprocessors
//            of the device, the threads and the kernel's blocks that all of them hold at once
//   kMostCounted   elements that a kernel counts in a launch
// and hands each thread of a kernel a Thread with
//   index() in its block, block(), blocks()
//   sync(), a barrier for the block's threads, all of which must come
//   sync_warp(), the same for the 32 lanes of a warp
//   shuffle_xor(value, mask) among the 32 lanes of a warp, all of which must come
//   shared<T>(), the block's shared memory: one T a kernel, its contents unspecified at the start
#pragma once

#include <cmath>
#include <cstdint>

// BENCH_DEVICE marks a function for the GPU. BENCH_UNROLL comes before a loop over registers whose body is
// long: left rolled, it would index them, and put them into memory. BENCH_ROLLED comes before a loop of few
// rounds. BENCH_DEVICE_AND_HOST(template <…>) is for a template that calls what it is given, on either.
#ifdef __CUDACC__
#define BENCH_DEVICE __device__ __forceinline__
#define BENCH_UNROLL _Pragma("unroll")
#define BENCH_ROLLED _Pragma("unroll 1")
#define BENCH_DEVICE_AND_HOST(...) \
  _Pragma("nv_exec_check_disable") __VA_ARGS__ __host__ __device__ __forceinline__
#else
#define BENCH_DEVICE inline
#define BENCH_UNROLL
#define BENCH_ROLLED
#define BENCH_DEVICE_AND_HOST(...) __VA_ARGS__ inline
#endif

namespace bench::kernels::cuda {

// 1/√x to two units in the last place: a GPU's root and division are loops with branches, this is not.
BENCH_DEVICE float inverse_root(float x) {
#ifdef __CUDACC__
  return rsqrtf(x);
#else
  return 1.0F / sqrtf(x);
#endif
}

// 1/x to a unit in the last place, without the branches of an exact division. A denormal x counts as 0, and
// 1/x where it is denormal.
BENCH_DEVICE float inverse(float x) {
#ifdef __CUDACC__
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0F / x;
#endif
}

inline constexpr float kBinaryLogarithmOfE = 1.44269504F;

// 2^x to 1e-6 of the larger of itself and 1, as near as a GPU's own instruction comes; 0 where that is
// denormal.
BENCH_DEVICE float power_of_two(float x) {
#ifdef __CUDACC__
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return exp2f(x);
#endif
}

// e^x, as near.
BENCH_DEVICE float exponential(float x) {
#ifdef __CUDACC__
  return power_of_two(x * kBinaryLogarithmOfE);
#else
  return expf(x);
#endif
}

// 1/(1 + 2^−x) to 1e-6, without the branches of an exact division.
BENCH_DEVICE float binary_logistic(float x) {
  return inverse(1.0F + power_of_two(-x));
}

// 1/(1 + e^−x), as near.
BENCH_DEVICE float logistic(float x) {
#ifdef __CUDACC__
  return binary_logistic(x * kBinaryLogarithmOfE);
#else
  return 1.0F / (1.0F + expf(-x));
#endif
}

// The widest access of one thread.
inline constexpr int kAccess = 16;
inline constexpr int kTile = 16;  // rows and columns of a tile for tensor cores

// A register holds four bytes; fewer leave its upper part zero.
template <int kBytes>
struct Vector {
  std::uint32_t word[kBytes < 4 ? 1 : kBytes / 4];
};

template <class Stored, int kBytes>
BENCH_DEVICE Stored element(const Vector<kBytes>& words, int i) {
  constexpr int kEach = 4 / static_cast<int>(sizeof(Stored));
  return static_cast<Stored>(words.word[i / kEach] >> (i % kEach * 8 * static_cast<int>(sizeof(Stored))));
}

template <class Stored, int kBytes>
BENCH_DEVICE void put(Vector<kBytes>& words, int i, Stored stored) {
  constexpr int kEach = 4 / static_cast<int>(sizeof(Stored));
  words.word[i / kEach] |= static_cast<std::uint32_t>(stored)
                           << (i % kEach * 8 * static_cast<int>(sizeof(Stored)));
}

// Elements of one access of 16 bytes.
template <class Element>
inline constexpr int kLanes = kAccess / static_cast<int>(sizeof(typename Element::Stored));

template <class Element, int kCount>
inline constexpr int kBytesOf = kCount* static_cast<int>(sizeof(typename Element::Stored));

// `kCount` elements from an address aligned to all of them.
template <class Element, int kCount>
BENCH_DEVICE Vector<kBytesOf<Element, kCount>> load_vector(const typename Element::Stored* from) {
  return Element::Memory::template load<kBytesOf<Element, kCount>>(from);
}

template <class Element, int kCount>
BENCH_DEVICE void unpack(const Vector<kBytesOf<Element, kCount>>& words, float (&values)[kCount]) {
  for (int i = 0; i < kCount; ++i) {
    values[i] = Element::to(element<typename Element::Stored>(words, i));
  }
}

template <class Element, int kCount>
BENCH_DEVICE void load_values(const typename Element::Stored* from, float (&values)[kCount]) {
  unpack<Element>(load_vector<Element, kCount>(from), values);
}

template <class Element, int kCount>
BENCH_DEVICE void store_values(typename Element::Stored* to, const float (&values)[kCount]) {
  Vector<kBytesOf<Element, kCount>> words{};
  for (int i = 0; i < kCount; ++i) {
    put(words, i, Element::from(values[i]));
  }
  Element::Memory::store(to, words);
}

// The first of these values; the others move forward, through registers, and the last is to be set. For a
// loop that is not unrolled: it cannot index registers.
template <int kCount>
BENCH_DEVICE float next_of(float (&values)[kCount]) {
  const float first = values[0];
  BENCH_UNROLL
  for (int i = 0; i + 1 < kCount; ++i) {
    values[i] = values[i + 1];
  }
  return first;
}

// As many fp32 values, whatever the element: the parameters of its channels. Aligned to 16 bytes where there
// are four or more, else to one.
template <class Memory, int kCount>
BENCH_DEVICE void load_floats(const float* from, float (&values)[kCount]) {
  constexpr int kEach = kCount % 4 == 0 ? 4 : 1;
  for (int i = 0; i < kCount; i += kEach) {
    const auto words = Memory::template load<kEach * 4>(from + i);
    for (int j = 0; j < kEach; ++j) {
      values[i + j] = Memory::as_float(words.word[j]);
    }
  }
}

template <class Memory, int kCount>
BENCH_DEVICE void store_floats(float* to, const float (&values)[kCount]) {
  constexpr int kEach = kCount % 4 == 0 ? 4 : 1;
  for (int i = 0; i < kCount; i += kEach) {
    Vector<kEach * 4> words;
    for (int j = 0; j < kEach; ++j) {
      words.word[j] = Memory::as_bits(values[i + j]);
    }
    Memory::store(to + i, words);
  }
}

// How the threads of a grid share a row of elements: whole accesses of 16 bytes first, then what is left.
// A thread has kEach accesses, its block's kThreads threads side by side in each of them.
template <int kThreads, int kEach>
struct GridStride {
  static constexpr std::int64_t kBlock = std::int64_t{kThreads} * kEach;

  static std::int64_t blocks(std::int64_t accesses) {
    return accesses / kBlock + (accesses % kBlock != 0 ? 1 : 0);
  }

  // A thread's first access; the others follow kThreads apart.
  template <class Thread>
  static BENCH_DEVICE std::int64_t first(const Thread& thread) {
    return thread.block() * kBlock + thread.index();
  }

  // Calls visit with those from `from` to `to` that are a thread's: its accesses, or the elements after the
  // last whole one, which are all where an address allows no wide ones. A long visit is not unrolled.
  template <bool kRolled = false, class Thread, class Visit>
  static BENCH_DEVICE void each(const Thread& thread, std::int64_t from, std::int64_t to,
                                const Visit& visit) {
    const std::int64_t step = std::int64_t{thread.blocks()} * kThreads;
    std::int64_t at = from + std::int64_t{thread.block()} * kThreads + thread.index();
    if constexpr (kRolled) {
      BENCH_ROLLED
      for (; at < to; at += step) {
        visit(at);
      }
    } else {
      for (; at < to; at += step) {
        visit(at);
      }
    }
  }
};

}  // namespace bench::kernels::cuda
