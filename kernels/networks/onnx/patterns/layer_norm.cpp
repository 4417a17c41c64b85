// (x − mean) / √(variance + ε) · scale + shift, over the last dimension, as it is computed without the
// operator: √ finds the variance below it, and a polynomial in x, mean, √ and the two vectors above.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/networks/onnx/patterns/groups.h"
#include "kernels/networks/onnx/patterns/polynomial.h"

namespace bench::kernels::onnx {
namespace {

using NodeId = GraphIndex::NodeId;
constexpr std::size_t kInput = 0;
constexpr std::size_t kMean = 1;
constexpr std::size_t kDeviation = 2;
constexpr std::size_t kVectors = 3;

// The variance and all below it.
struct Moments {
  GraphIndex::Value x = GraphIndex::kNone;
  std::vector<GraphIndex::Value> means;  // of x: some exporters compute it twice
  double epsilon = 0;
  std::vector<NodeId> members;
};

// The node that makes a value, past conversions between float types, which become members.
NodeId maker(const GraphIndex& index, GraphIndex::Value value, std::vector<NodeId>& members) {
  constexpr int kMostConversions = 4;
  for (int i = 0; i < kMostConversions && index.is_converted(value); ++i) {
    members.push_back(index.maker(value));
    value = index.input(index.maker(value), 0);
  }
  return index.maker(value);
}

// Every mean of x over the last dimension.
std::vector<GraphIndex::Value> means_of(const GraphIndex& index, GraphIndex::Value x) {
  constexpr std::size_t kMostReaders = 64;
  std::vector<GraphIndex::Value> means;
  if (index.readers(x).size() <= kMostReaders) {
    for (const NodeId reader : index.readers(x)) {
      if (index.alive(reader) && index.is_mean_of_last(reader)) {
        means.push_back(index.output(reader));
      }
    }
  }
  return means;
}

// From variance + ε.
std::optional<Moments> moments_of(const GraphIndex& index, GraphIndex::Value sum) {
  Moments found;
  const NodeId add = maker(index, sum, found.members);
  if (add == GraphIndex::kNone || !index.is(add, "Add")) {
    return std::nullopt;
  }
  const std::size_t which = index.scalar(index.input(add, 1)) ? 1 : 0;
  const auto epsilon = index.scalar(index.input(add, which));
  const NodeId variance = maker(index, index.input(add, 1 - which), found.members);
  if (!epsilon || epsilon->value < 0 || variance == GraphIndex::kNone || !index.is_mean_of_last(variance)) {
    return std::nullopt;
  }
  found.epsilon = epsilon->value;

  // The square's base is the difference of x and its mean.
  const NodeId square = maker(index, index.input(variance, 0), found.members);
  if (square == GraphIndex::kNone || (!index.is(square, "Pow") && !index.is(square, "Mul"))) {
    return std::nullopt;
  }
  const NodeId difference = maker(index, index.input(square, 0), found.members);
  if (difference == GraphIndex::kNone || !index.is(difference, "Sub")) {
    return std::nullopt;
  }
  found.x = index.input(difference, 0);
  const NodeId mean = maker(index, index.input(difference, 1), found.members);
  if (mean == GraphIndex::kNone || !index.is_mean_of_last(mean) ||
      !index.same(index.input(mean, 0), found.x)) {
    return std::nullopt;
  }
  found.means = means_of(index, found.x);
  if (std::ranges::find(found.means, index.output(mean)) == found.means.end()) {
    found.means.push_back(index.output(mean));
  }

  Expression expression(index, {{{found.x}, kInput, true}, {found.means, kMean}});
  const auto squares = expression.of(index.input(variance, 0));
  if (!squares || !squares->is_near({{.powers = {2, 0}, .factor = 1},
                                     {.powers = {1, 1}, .factor = -2},
                                     {.powers = {0, 2}, .factor = 1}},
                                    expression.tolerance())) {
    return std::nullopt;
  }
  found.members.insert(found.members.end(), {add, variance});
  std::ranges::copy(expression.members(), std::back_inserter(found.members));
  return found;
}

Term term(std::int8_t x, std::int8_t mean, std::int8_t deviation, std::size_t vector, double factor) {
  Term made{.powers = {x, mean, deviation}, .factor = factor};
  if (vector < Term::kSymbols) {
    ++made.powers[vector];
  }
  return made;
}

// Scale and shift, as vectors of the expression; kNone where there is none.
struct Affine {
  GraphIndex::Value scale = GraphIndex::kNone;
  GraphIndex::Value shift = GraphIndex::kNone;
};

// Scale and shift of x · √⁻¹ · scale − mean · √⁻¹ · scale + shift, with √ or its inverse as the symbol.
std::optional<Affine> affine_of(const Polynomial& result, const Expression& expression, std::int8_t inverse) {
  constexpr std::size_t kNoVector = Term::kSymbols;
  const std::vector<GraphIndex::Value>& vectors = expression.vectors();
  const auto value = [&](std::size_t symbol) {
    return symbol == kNoVector ? GraphIndex::kNone : vectors[symbol - kVectors];
  };
  std::vector<std::size_t> symbols{kNoVector};
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    symbols.push_back(kVectors + i);
  }
  for (const std::size_t scale : symbols) {
    const Polynomial scaled{term(1, 0, inverse, scale, 1), term(0, 1, inverse, scale, -1)};
    if (result.is_near(scaled, expression.tolerance())) {
      return Affine{value(scale), GraphIndex::kNone};
    }
    for (const std::size_t shift : symbols) {
      if (scale != kNoVector && shift != kNoVector &&
          result.is_near(scaled + Polynomial{term(0, 0, 0, shift, 1)}, expression.tolerance())) {
        return Affine{value(scale), value(shift)};
      }
    }
  }
  return std::nullopt;
}

struct Group {
  NodeId end = GraphIndex::kNone;
  Affine affine;
  std::vector<NodeId> members;
};

// nullopt: `end` computes something else, or somebody else reads what it is made of.
std::optional<Group> group_up_to(const GraphIndex& index, const Moments& moments, NodeId root,
                                 std::int8_t inverse, NodeId end) {
  Expression expression(
      index, {{{moments.x}, kInput, true}, {moments.means, kMean}, {{index.output(root)}, kDeviation}},
      kVectors);
  const auto result = expression.of(index.output(end));
  const auto affine = result ? affine_of(*result, expression, inverse) : std::nullopt;
  if (!affine) {
    return std::nullopt;
  }
  Group group{end, *affine, moments.members};
  std::ranges::copy(expression.members(), std::back_inserter(group.members));
  return index.closed(group.members, end) ? std::optional(group) : std::nullopt;
}

}  // namespace

bool recognise_layer_norm(GraphIndex& index, GraphIndex::NodeId node) {
  std::int8_t inverse = -1;
  if (index.is(node, "Pow")) {
    const auto exponent = index.scalar(index.input(node, 1));
    if (!exponent || (exponent->value != 0.5 && exponent->value != -0.5)) {
      return false;
    }
    inverse = exponent->value < 0 ? 1 : -1;
  } else if (!index.is(node, "Sqrt")) {
    return false;
  }
  const auto moments = moments_of(index, index.input(node, 0));
  if (!moments) {
    return false;
  }
  // The largest group: the norm alone, with its scale, or with its shift too.
  std::optional<Group> group;
  for (const NodeId end : possible_ends(index, node)) {
    auto larger = group_up_to(index, *moments, node, inverse, end);
    if (group && !larger) {
      break;
    }
    group = std::move(larger);
  }
  if (!group) {
    return false;
  }
  Attribute epsilon;
  epsilon.name = "epsilon";
  epsilon.f = static_cast<float>(moments->epsilon);
  const std::array<GraphIndex::Value, 3> inputs{moments->x, group->affine.scale, group->affine.shift};
  index.replace(group->members, group->end, "bench", "LayerNorm", inputs, {epsilon});
  return true;
}

}  // namespace bench::kernels::onnx
