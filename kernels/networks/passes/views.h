// Where the elements of values lie that only show another value's elements: through reshapes, transposes,
// slices and repetitions. Element i of such a value is element
//
//   offset + Σ stride[d] · i[d]
//
// of its source, counted in the order of the source's dimensions, times a factor. A dimension may be runs
// within runs, the outermost first, each with a stride: heads and samples as one dimension.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

struct View {
  // Its stride depends on the batch where the batch lies after it in memory.
  struct Run {
    Extent extent = 1;
    Extent stride = 0;  // 0: repeated, or of one element
    bool operator==(const Run&) const = default;
  };
  using Dim = std::vector<Run>;  // empty: of one element

  Graph::Value source = 0;
  std::int64_t offset = 0;
  std::vector<Dim> dims;
  double factor = 1;

  // All runs; neighbours that lie one after the other are one.
  std::vector<Run> merged() const;
};

// A dimension that is a single run.
std::optional<View::Run> single(const View::Dim& dim);
// The view of a value that is its own source.
View whole(const Graph& graph, Graph::Value value);

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

// How many elements a value of this shape has.
Extent elements(const Shape& shape);

}  // namespace bench::kernels
