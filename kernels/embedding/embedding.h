// Rows of a table, looked up by token ids, and the table's gradient:
//   forward:  dst[r,:] = weights[src[r],:]
//   backward: diff_weights[t,:] = Σ over the rows r with src[r] = t of diff_dst[r,:]
// The gradient is dense, as torch.nn.Embedding's is unless told otherwise: rows of the table that no token
// names are written as zeros. With `add` it is added to what diff_weights holds, and only the rows named are
// touched. Either way the sums are made in fp32, and do not depend on the number of threads.
//
// Slots. forward:  src (int32[rows]), weights (plain [vocabulary][width] in the dtype) → dst.
//        backward: src, diff_dst → diff_weights (stored like weights; a state with `add`).
// A token outside [0, vocabulary) is the caller's mistake: its row is zero and adds nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct Embedding {
  static constexpr std::string_view kName = "embedding";
  enum class Direction { forward, backward };

  std::int64_t rows = 1;  // tokens
  std::int64_t vocabulary = 1;
  std::int64_t width = 1;
  Direction direction = Direction::forward;
  bool add = false;  // backward only
  Dtype dtype = Dtype::fp32;

  TensorDesc dst() const { return {rows, width, 1, 1, Layout::nhwc, dtype}; }
  std::int64_t token_bytes() const { return rows * static_cast<std::int64_t>(sizeof(std::int32_t)); }
  std::int64_t weight_count() const { return vocabulary * width; }
  double flops() const { return direction == Direction::forward ? 0.0 : static_cast<double>(rows * width); }

  bool operator==(const Embedding&) const = default;
};

}  // namespace bench::kernels
