// Where the elements of values lie that only show another value's elements: through reshapes, transposes,
// slices and repetitions. Element i of such a value is element
//
//   offset + Σ stride[d] · i[d]
//
// of its source, counted in the order of the source's dimensions, times a factor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

struct View {
  // Strides depend on the batch where the batch lies behind the dimension.
  struct Dim {
    Extent extent;
    Extent stride = 0;  // 0: repeated, or of one element
    bool operator==(const Dim&) const = default;
  };
  Graph::Value source = 0;
  std::int64_t offset = 0;
  std::vector<Dim> dims;
  double factor = 1;

  // Without dimensions of one element; neighbours that lie one behind the other are one.
  std::vector<Dim> merged() const;
};

// The product, which nothing is where both depend on the batch.
std::optional<Extent> product(const Extent& a, const Extent& b);
// The values of a constant, by its source's elements; empty where it is none: a parameter that is not trained
// and whose values are given.
std::span<const float> constant_values(const Graph& graph, const View& view);
// The one value that all elements of a constant have.
std::optional<float> constant_scalar(const Graph& graph, const View& view);

enum class Factors { apart, seen_through };

// The view of every node; one that computes is its own source. seen_through: a product with a constant is a
// view too.
std::vector<View> views_of(const Graph& graph, Factors factors);

}  // namespace bench::kernels
