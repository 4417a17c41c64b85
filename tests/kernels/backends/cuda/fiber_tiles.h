// kernels/backends/cuda/kernel_operation.h on fibers: each lane keeps both factors, and eight neighbouring
// sums of its own.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "fibers.h"
#include "kernels/backends/cuda/kernel_operation.h"

namespace bench::kernels::testing {

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

}  // namespace bench::kernels::testing

template <>
struct bench::kernels::cuda::TilesOf<bench::kernels::testing::Fibers> {
  template <class Element>
  using Of = bench::kernels::testing::FiberTiles<Element>;
};
