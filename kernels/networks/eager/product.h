// A matrix product as a card computes it for one sample.
#pragma once

#include <algorithm>
#include <cmath>

#include "bench/model/network_terms.h"

namespace bench::kernels {

struct EagerProduct {
  ProductClass kind{};
  double rows = 0, columns = 0, depth = 0;
  double count = 1;    // side by side: groups, or a sample's matrices
  double weights = 0;  // values of the operand that is a parameter

  // With the columns of the last tile and the ends of the reduction, which are computed for nothing;
  // on_tensor_cores: in 16 bits.
  double flops(bool on_tensor_cores) const {
    using Kind = ProductClass;
    if (kind == Kind::grouped || kind == Kind::depthwise || kind == Kind::stem) {
      return 2 * rows * columns * depth * count;
    }
    constexpr double kSmallTile = 64;
    const bool is_small = kind == Kind::batched || kind == Kind::attention;
    const double wide = is_small || on_tensor_cores ? kSmallTile : 32;
    const double ends = on_tensor_cores ? 32 : 8;
    return 2 * (is_small ? up_to(rows, kSmallTile) : rows) * up_to(columns, wide) * (depth + ends) * count;
  }
  // Of one tile, the least that a multiprocessor does; none of a depthwise convolution.
  double tile_flops() const {
    return kind == ProductClass::depthwise ? 0 : 2 * 64 * std::min(128.0, std::max(columns, 16.0)) * depth;
  }

 private:
  static double up_to(double value, double step) { return std::ceil(value / step) * step; }
};

}  // namespace bench::kernels
