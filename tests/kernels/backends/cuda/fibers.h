// A machine for kernel bodies that is no GPU: every thread of a block is a fiber of this process, so that the
// same source runs under the sanitizers.
//
// Threads of a block, and blocks of a grid, take turns in a shuffled order: a body that forgets a barrier, or
// counts on another block, sees a neighbour's old values. Shared memory starts filled with 0xff, which are
// NaNs. A hang or a fault of a GPU is a std::logic_error here: a barrier or a shuffle that some threads never
// reach, an access that is not aligned to its size.
//
// The thread sanitizer takes every fiber for a thread. Barriers alone order a block's or a warp's threads,
// neither shuffles nor the turns they take here, and nothing orders two blocks of a grid: it reports a
// missing barrier in every run, whatever the order of turns.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/device.h"
#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/residency.h"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/element.h"

namespace bench::kernels::testing {

class FiberBlock;

// A body's view of its thread.
class FiberThread {
 public:
  FiberThread(FiberBlock& owner, int index, int block, int blocks)
      : owner_(&owner), index_(index), block_(block), blocks_(blocks) {}

  int index() const { return index_; }
  int block() const { return block_; }
  int blocks() const { return blocks_; }
  void sync() const;
  void sync_warp() const;

  template <class T>
  T shuffle_xor(T value, int mask) const {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = exchange(bits, (index_ % 32) ^ mask);
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  template <class T>
  T& shared() const {
    return *static_cast<T*>(shared_bytes(sizeof(T)));
  }

 private:
  std::uint64_t exchange(std::uint64_t mine, int lane) const;
  void* shared_bytes(std::size_t bytes) const;

  FiberBlock* owner_;
  int index_;
  int block_;
  int blocks_;
};

bool under_thread_sanitizer();

// The barrier of that number (0 for a thread's first) is none from now on, in all threads; nullopt: all are.
void forget_barrier(std::optional<int> number);

// Runs all blocks of a grid, or those from `first` on. An exception that a thread throws is thrown again
// here.
void run_grid(int threads, std::int64_t blocks, const std::function<void(const FiberThread&)>& body,
              std::int64_t first = 0);

struct FiberMemory {
  template <int kBytes>
  static cuda::Vector<kBytes> load(const void* from) {
    require_aligned(from, kBytes);
    cuda::Vector<kBytes> words{};
    std::memcpy(&words, from, kBytes);
    return words;
  }
  template <int kBytes>
  static void store(void* to, const cuda::Vector<kBytes>& words) {
    require_aligned(to, kBytes);
    std::memcpy(to, &words, kBytes);
  }
  static float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
  static std::uint32_t as_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

 private:
  static void require_aligned(const void* address, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
      throw std::logic_error("an access is not aligned to its size");
    }
  }
};

struct FiberFp32 {
  using Memory = FiberMemory;
  using Stored = std::uint32_t;
  static float to(Stored bits) { return std::bit_cast<float>(bits); }
  static Stored from(float value) { return std::bit_cast<Stored>(value); }
};
template <class Element>
struct FiberHalf : Element {
  using Memory = FiberMemory;
  static std::uint32_t multiply_add_pair(std::uint32_t x, std::uint32_t by, std::uint32_t plus) {
    const auto one = [&](int shift) {
      const auto value = [&](std::uint32_t pair) {
        return Element::to(static_cast<std::uint16_t>(pair >> shift));
      };
      return static_cast<std::uint32_t>(Element::from(std::fmaf(value(x), value(by), value(plus)))) << shift;
    };
    return one(0) | one(16);
  }
};
using FiberFp16 = FiberHalf<Fp16>;
using FiberBf16 = FiberHalf<Bf16>;

// Each lane keeps both factors, and eight neighbouring sums of its own.
template <class Element>
struct FiberTiles {
  struct Factor {
    std::array<std::array<float, cuda::kTile>, cuda::kTile> values;

    void load(const void* from, int stride) {
      if (reinterpret_cast<std::uintptr_t>(from) % 32 != 0 || stride % 8 != 0) {
        throw std::logic_error("a tile does not begin at 32 bytes, or its rows not at 16");
      }
      for (int row = 0; row < cuda::kTile; ++row) {
        for (int column = 0; column < cuda::kTile; ++column) {
          std::uint16_t stored = 0;
          std::memcpy(&stored, static_cast<const std::byte*>(from) + (row * stride + column) * 2, 2);
          values[row][column] = Element::to(stored);
        }
      }
    }
  };
  using Left = Factor;
  using Right = Factor;

  struct Sums {
    int row = 0;
    int column = 0;
    std::array<float, 8> sums{};

    void clear(const FiberThread& thread) {
      row = thread.index() % 32 / 2;
      column = thread.index() % 2 * 8;
      sums.fill(0);
    }
    void add(const Left& left, const Right& right) {
      for (int i = 0; i < 8; ++i) {
        for (int k = 0; k < cuda::kTile; ++k) {
          sums[i] += left.values[row][k] * right.values[k][column + i];
        }
      }
    }
    void store(float* to, int stride) const {
      if (reinterpret_cast<std::uintptr_t>(to) % 32 != 0 || stride % 4 != 0) {
        throw std::logic_error("a tile does not begin at 32 bytes, or its rows not at 16");
      }
      std::memcpy(to + row * stride + column, sums.data(), sizeof sums);
    }
  };
};

class FiberQueue {
 public:
  explicit FiberQueue(const Device& /*device*/) {}

  template <class Kernel>
  void launch(const Kernel& kernel, std::int64_t blocks) const {
    if (blocks != 0) {
      run_grid(Kernel::kThreads, cuda::grid_of(blocks, Kernel::kName),
               [&](const FiberThread& thread) { kernel(thread); });
    }
  }

  // One multiprocessor: small tensors too are cut as if they filled the device.
  int multiprocessors() const { return 1; }
  std::int64_t threads() const { return cuda::multiprocessor_of(kCapability).threads; }
  template <class Kernel>
  std::int64_t resident() const {
    return cuda::resident_blocks<Kernel>(kCapability);
  }

 private:
  static constexpr int kCapability = 90;
};

struct Fibers {
  using Memory = FiberMemory;
  using Fp32 = FiberFp32;
  using Fp16 = FiberFp16;
  using Bf16 = FiberBf16;
  template <class Element>
  using Tiles = FiberTiles<Element>;
  using Queue = FiberQueue;

  static constexpr const char* kImplementation = "fibers";
  static constexpr const char* kDeviceKind = "cpu";
  static constexpr int kPreference = -2;
  static constexpr std::int64_t kMostCounted = cuda::kMostUnits;
  static std::optional<std::string> unsupported(const Device& /*device*/, Dtype /*dtype*/) { return {}; }
};

}  // namespace bench::kernels::testing
