// Products of matrices that lie side by side, with a factor: for each index of the leading dimensions
//
//   dst = scale · a b,   a: src or its transpose, b: src1 or its transpose
//
// Where one operand has one matrix along a leading dimension, that is multiplied with all of the other's, as
// NumPy broadcasts. Sums are in fp32. Gradients are such products too: gradient_of().
//
// Slots. src, src1 → dst. Matrices are row-major and dense, the leading dimensions outermost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// The layer's options in a network: of the last two dimensions.
struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
  float scale = 1;
};

struct BatchedMatmul {
  static constexpr std::string_view kName = "batched matmul";
  static constexpr std::size_t kMostLeading = 4;
  using Leading = std::array<std::int64_t, kMostLeading>;

  Leading a_leading{1, 1, 1, 1}, b_leading{1, 1, 1, 1};  // outermost first; alike, or 1 in one of them
  std::int64_t rows = 1, inner = 1, columns = 1;         // of a and b
  bool transpose_a = false, transpose_b = false;         // stored as [inner][rows], [columns][inner]
  float scale = 1;
  Dtype dtype = Dtype::fp32;

  Leading leading() const;        // of dst
  std::int64_t matrices() const;  // of dst
  TensorDesc src() const;         // as rows of a stored matrix
  TensorDesc src1() const;
  TensorDesc dst() const;
  double flops() const {
    return 2.0 * static_cast<double>(matrices() * rows * inner) * static_cast<double>(columns);
  }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const BatchedMatmul&) const = default;
};

PlainSlots plain_slots(const BatchedMatmul& spec);

// The product that gives the gradient of operand 0 or 1: of which two tensors, in order, and how. The result
// has a matrix for each of dst's: where the operand was repeated, its gradient is the sum of them.
struct MatmulGradient {
  enum class Operand { src, src1, diff_dst };
  Operand first{}, second{};
  BatchedMatmul product;
};
MatmulGradient gradient_of(const BatchedMatmul& spec, std::size_t operand);

// The same product over as few leading dimensions as can be: neighbours that are repeated alike are one, and
// where a matrix of b meets all the rows of several of a's, those are one matrix.
struct MergedMatmul {
  struct Axis {
    std::int64_t extent = 1;
    bool a_moves = true, b_moves = true;  // else the matrix is repeated
  };
  std::vector<Axis> leading;  // outermost first
  std::int64_t rows = 1;
};
MergedMatmul merged(const BatchedMatmul& spec);

}  // namespace bench::kernels
