// Multiply-adds on every element as often as asked for: work from almost none to plenty for each byte moved.
//
//   chains   x ← src; then `steps` times x ← kFactor · x + kSummand; dst ← x. Every element is its own chain;
//            enough of them are under way at once to hide a multiply-add's latency.
//   tiles    for tensor cores. A row's elements are taken 256 at a time as a tile X of 16 × 16, zeros after
//            the last one: S ← 0; then `steps` times S ← X · M + S with the constant matrix M
//            (fma_matrix below), sums in fp32; dst ← S. M has no zeros, for tensor cores draw less power, and
//            so clock higher, on them.
//
// Slots: src → dst, rows × count each.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Fma {
  static constexpr std::string_view kName = "fma";
  enum class Kind { chains, tiles };
  // Close to 1, so that src still shows after many steps; both exact in every dtype.
  static constexpr float kFactor = 0.9921875F;
  static constexpr float kSummand = 0.0078125F;
  static constexpr std::int64_t kTileSide = 16;
  static constexpr std::int64_t kTileElements = kTileSide * kTileSide;

  std::int64_t rows = 1;
  std::int64_t count = 1;  // elements of a row
  std::int64_t steps = 1;
  Dtype dtype = Dtype::fp32;
  Kind kind = Kind::chains;

  TensorDesc tensor() const { return {rows, count, 1, 1, Layout::nhwc, dtype}; }
  double flops() const {
    const double each = kind == Kind::tiles ? 2.0 * kTileSide : 2.0;
    return each * static_cast<double>(rows * count) * static_cast<double>(steps);
  }
  bool operator==(const Fma&) const = default;
};

// The constant matrix M that fma multiplies tiles by: odd multiples of 1/512 below 1/32, exact in every
// dtype, none of them zero, and so small that 65536 steps end below fp16's largest number. It is not
// symmetric: a product with its transpose is another one.
BENCH_DEVICE float fma_matrix(int row, int column) {
  return static_cast<float>(2 * ((7 * row + 3 * column) % 16) - 15) / 512;
}

PlainSlots plain_slots(const Fma& spec);

}  // namespace bench::kernels
