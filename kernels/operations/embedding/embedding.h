// Rows of a learned table for the rows of a batch, and the table's gradient. The row of the table that row r
// takes, t(r), is its token id, or its position r mod `sequence`:
//   tokens:    dst[r,:] = weights[src[r],:]
//   positions: dst[r,:] = src[r,:] + weights[r mod sequence,:]    (diff_src is diff_dst)
//   backward:  diff_weights[t,:] = Σ over the rows r with t(r) = t of diff_dst[r,:]
// The gradient is dense, as torch.nn.Embedding's is unless told otherwise: rows of the table that no row
// takes are written as zeros. With `add` (tokens only) it is added to what diff_weights holds, and only the
// rows taken are touched. Sums are made in fp32, and do not depend on the number of threads.
//
// Slots. forward:  src (tokens: int32[rows]; positions: features like dst, and dst may be src), weights
// (plain
//                  [vocabulary][width] in the dtype) → dst.
//        backward: src (tokens only), diff_dst → diff_weights (stored like weights; a state with `add`).
// A token outside [0, vocabulary) is the caller's mistake: its row is zero and adds nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Embedding {
  static constexpr std::string_view kName = "embedding";
  enum class Kind { tokens, positions };
  using Direction = kernels::Direction;

  std::int64_t rows = 1;        // of dst: tokens, or samples · sequence
  std::int64_t vocabulary = 1;  // rows of the table
  std::int64_t width = 1;
  Direction direction = Direction::forward;
  bool add = false;  // backward only
  Dtype dtype = Dtype::fp32;
  Kind kind = Kind::tokens;
  std::int64_t sequence = 1;  // positions only: rows of a sample, at most the vocabulary

  bool forward() const { return direction == Direction::forward; }
  TensorDesc dst() const { return {rows, width, 1, 1, Layout::nhwc, dtype}; }
  std::int64_t token_bytes() const { return rows * static_cast<std::int64_t>(sizeof(std::int32_t)); }
  std::int64_t weight_count() const { return vocabulary * width; }
  double flops() const { return kind == Kind::tokens && forward() ? 0.0 : static_cast<double>(rows * width); }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const {
    if (kind == Kind::positions && (sequence < 1 || sequence > vocabulary || rows % sequence != 0 || add)) {
      return "embedding: positions take whole samples of a sequence no longer than the table, and add to "
             "nothing";
    }
    return std::nullopt;
  }

  bool operator==(const Embedding&) const = default;
};

PlainSlots plain_slots(const Embedding& spec);

}  // namespace bench::kernels
