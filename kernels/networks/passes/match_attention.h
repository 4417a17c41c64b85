// The pattern match of attention that a graph writes out as products and a softmax: where it is, and what its
// queries, keys and values were cut from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/networks/graph/graph.h"
#include "kernels/networks/passes/views.h"

namespace bench::kernels {

// Queries, keys or values as [batch, heads, positions, features].
struct AttentionOperand {
  Graph::Value value = 0;  // what the product reads
  bool swapped = false;    // its last two dimensions
  View view;               // into what it was made of
  std::array<View::Run, 4> dims{};
};

struct MatchedAttention {
  Graph::Value last = 0;  // the second product
  std::array<AttentionOperand, 3> operands;
  bool causal = false;
  double scale = 1;
  bool scales_scores = false;  // after the first product, not its operands
};

// The rows of a value that hold a head's features side by side.
struct HeadRows {
  Graph::Value source = 0;
  bool sequence_first = false;  // before the batch
  std::int64_t width = 0;       // of a row
  std::int64_t at = 0;          // where in it the first head begins
};

// Follows a softmax back to its operands and forward to its second product. The graph must outlive it.
class AttentionMatcher {
 public:
  explicit AttentionMatcher(const Graph& graph);

  std::optional<MatchedAttention> find(Graph::Value softmax) const;

  // Whether the operand lies in rows of what it was made of.
  std::optional<HeadRows> rows_of(const AttentionOperand& operand) const;

 private:
  bool is_read_once(Graph::Value value) const { return readers_[value] == 1; }

  // Whether a reshape leaves the matrices of the last two dimensions as they are.
  bool keeps_matrices(const Node& node) const;

  // The product that the softmax reads, by way of scales and masks.
  std::optional<Graph::Value> first_product(Graph::Value softmax, MatchedAttention& found) const;

  std::optional<Graph::Value> unscaled(const Node& node, MatchedAttention& found) const;

  // What a mask is added to, or is chosen from.
  std::optional<Graph::Value> unmasked(const Node& node, MatchedAttention& found) const;

  bool is_mask(Graph::Value mask, const Shape& scores, MatchedAttention& found) const;

  // Whether it is a constant square, the same for all heads and samples, each of whose elements is as it
  // should be where it hides a later position, and where it does not.
  template <class IsRight>
  bool is_causal(Graph::Value mask, const Shape& scores, const IsRight& is_right) const;

  // The product of what the softmax makes with the values.
  std::optional<Graph::Value> second_product(Graph::Value softmax) const;

  // The view's dimensions in order. Where batch and heads are one, the heads are inside.
  static bool split(AttentionOperand& operand);

  bool fits(MatchedAttention& found) const;

  const Graph& graph_;
  std::vector<int> readers_;
  std::vector<Graph::Value> reader_;  // the last one
  std::vector<View> plain_, scaled_;
};

}  // namespace bench::kernels
