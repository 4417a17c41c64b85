// The result of a group of nodes as a polynomial: exporters write x · ½ · (1 + t) with their factors in any
// order, as divisions or as products, and all of them are ½x + ½xt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/networks/onnx/patterns/graph_index.h"

namespace bench::kernels::onnx {

// A product of powers of symbols, times a factor.
struct Term {
  static constexpr std::size_t kSymbols = 5;

  std::array<std::int8_t, kSymbols> powers{};
  double factor = 0;
};

// A sum of terms, each of other powers.
class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(std::initializer_list<Term> terms) : terms_(terms) {}

  static Polynomial constant(double value) { return {{.factor = value}}; }
  static Polynomial symbol(std::size_t which);

  const std::vector<Term>& terms() const { return terms_; }

  Polynomial operator+(const Polynomial& other) const;
  Polynomial operator*(const Polynomial& other) const;
  // nullopt: only a single term other than 0 has a reciprocal here.
  std::optional<Polynomial> reciprocal() const;

  // Whether the factors differ by at most `tolerance` of the expected ones.
  bool is_near(const Polynomial& expected, double tolerance) const;

 private:
  std::vector<Term> terms_;
};

// Reads a group of nodes from its result upwards, as far as symbols and scalar constants.
class Expression {
 public:
  using NodeId = GraphIndex::NodeId;
  using Value = GraphIndex::Value;

  struct Symbol {
    std::vector<Value> values;  // all are the same
    std::size_t which = 0;
    bool outside = false;  // what makes it is not of the group, and neither are conversions of it
  };

  // Vectors among the constants are symbols too, from `first_vector` on, as many as there are symbols left.
  Expression(const GraphIndex& index, std::vector<Symbol> symbols, std::size_t first_vector = Term::kSymbols)
      : index_(index), symbols_(std::move(symbols)), first_vector_(first_vector) {}

  // nullopt: more than sums, products, quotients and powers of symbols and constants, or a large group.
  std::optional<Polynomial> of(Value value);

  // Nodes that were read, those that make symbols inside the group among them.
  const std::vector<NodeId>& members() const { return members_; }
  // Vectors, in the order of their symbols.
  const std::vector<Value>& vectors() const { return vectors_; }
  // Relative tolerance of the constants that were read: 1e-4, or 4e-3 where one was rounded to 16 bits.
  double tolerance() const { return half_ ? 4e-3 : 1e-4; }

 private:
  std::optional<Polynomial> read(Value value, int depth);
  std::optional<Polynomial> leaf(Value value);
  void add_member(NodeId node);
  std::optional<Polynomial> computed(NodeId node, int depth);
  std::optional<Polynomial> power(NodeId node, int depth);

  const GraphIndex& index_;
  std::vector<Symbol> symbols_;
  std::size_t first_vector_;
  std::vector<NodeId> members_;
  std::vector<Value> vectors_;
  bool half_ = false;
  int reads_ = 0;
};

// Whether an Expression reads through the node.
bool is_arithmetic(const GraphIndex& index, GraphIndex::NodeId node);

// The node and the arithmetic above it, up to a bound: where its group may end. In the graph's order.
std::vector<GraphIndex::NodeId> possible_ends(const GraphIndex& index, GraphIndex::NodeId node);

}  // namespace bench::kernels::onnx
