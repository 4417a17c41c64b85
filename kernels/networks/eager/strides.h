// How a value lies in memory in PyTorch, where transposes, slices and repetitions are views: whether a
// reshape is one too, or has to copy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

// At a batch of 2, so that its stride is seen.
struct Strides {
  struct Dim {
    std::int64_t size = 1;
    std::int64_t stride = 0;
  };
  std::vector<Dim> dims;  // outermost first

  static Strides dense(const Shape& shape);
  // Dense, with its dimensions nested in memory as these are.
  Strides made_dense() const;
  // nullopt: its elements have no such view.
  std::optional<Strides> reshaped(const std::vector<std::int64_t>& sizes) const;
  // Whether a product reads its matrices as they lie: one stride leads from each to the next.
  bool are_matrices() const;
  bool are_rows() const;  // the same of its last dimension
};

std::vector<std::int64_t> sizes_of(const Shape& shape);

// What a node that only shows its input's elements makes of it; nullopt where it computes or copies.
std::optional<Strides> viewed(const Node& node, const Strides& input);

}  // namespace bench::kernels
