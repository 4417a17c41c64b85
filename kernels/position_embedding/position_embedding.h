// A learned vector for each position of a sequence, added to the position's features, and its gradient:
//   forward:  dst[n,s,:] = src[n,s,:] + weights[s,:]
//   backward: diff_weights[s,:] = Σ_n diff_dst[n,s,:], zero for positions behind the sequence
// (diff_src is diff_dst.) Sums are made in fp32.
//
// Slots. forward:  src, weights (plain [positions][width] in the dtype; the first `sequence` rows are read)
//                  → dst (may be src itself).
//        backward: diff_dst → diff_weights (stored like weights).
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct PositionEmbedding {
  static constexpr std::string_view kName = "position_embedding";
  enum class Direction { forward, backward };

  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t positions = 1;  // rows of the table, at least `sequence`
  std::int64_t width = 1;
  Direction direction = Direction::forward;
  Dtype dtype = Dtype::fp32;

  // Samples follow each other, and in each its positions: rows of features.
  TensorDesc tensor() const { return {batch * sequence, width, 1, 1, Layout::nhwc, dtype}; }
  std::int64_t weight_count() const { return positions * width; }
  double flops() const { return static_cast<double>(batch * sequence * width); }

  bool operator==(const PositionEmbedding&) const = default;
};

}  // namespace bench::kernels
