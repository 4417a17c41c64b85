#include "kernels/networks/onnx/patterns/polynomial.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bench::kernels::onnx {
namespace {

// Groups are at most this deep and have at most this many values, those that are read twice counted twice.
constexpr int kDepth = 9;
constexpr int kReads = 32;
// The most terms that a group's polynomial may have: formulas of activations are short.
constexpr std::size_t kTerms = 8;
constexpr int kPower = 8;
constexpr std::size_t kTermsOfBase = 2;
// Readers of a value inside a group, and nodes above one that are looked at.
constexpr std::size_t kReaders = 8;
constexpr std::size_t kEnds = 10;

bool is_binary(std::string_view op) {
  return op == "Add" || op == "Sub" || op == "Mul" || op == "Div";
}

bool is_small(const Polynomial& polynomial) {
  return polynomial.terms().size() <= kTerms && std::ranges::all_of(polynomial.terms(), [](const Term& term) {
           return std::ranges::all_of(term.powers, [](int power) { return std::abs(power) <= kPower; });
         });
}

}  // namespace

Polynomial Polynomial::symbol(std::size_t which) {
  Term term{.factor = 1};
  term.powers.at(which) = 1;
  return {term};
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
  Polynomial sum = *this;
  for (const Term& term : other.terms_) {
    const auto at = std::ranges::find(sum.terms_, term.powers, &Term::powers);
    if (at == sum.terms_.end()) {
      sum.terms_.push_back(term);
    } else {
      at->factor += term.factor;
    }
  }
  return sum;
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial product;
  for (const Term& a : terms_) {
    for (const Term& b : other.terms_) {
      Term term{.factor = a.factor * b.factor};
      for (std::size_t i = 0; i < Term::kSymbols; ++i) {
        term.powers[i] = static_cast<std::int8_t>(a.powers[i] + b.powers[i]);
      }
      product = product + Polynomial{term};
    }
  }
  return product;
}

std::optional<Polynomial> Polynomial::reciprocal() const {
  if (terms_.size() != 1 || terms_.front().factor == 0) {
    return std::nullopt;
  }
  Term term = terms_.front();
  term.factor = 1 / term.factor;
  for (std::int8_t& power : term.powers) {
    power = static_cast<std::int8_t>(-power);
  }
  return Polynomial{term};
}

bool Polynomial::is_near(const Polynomial& expected, double tolerance) const {
  return terms_.size() == expected.terms_.size() &&
         std::ranges::all_of(expected.terms_, [&](const Term& term) {
           const auto at = std::ranges::find(terms_, term.powers, &Term::powers);
           return at != terms_.end() &&
                  std::abs(at->factor - term.factor) <= tolerance * std::abs(term.factor);
         });
}

std::optional<Polynomial> Expression::of(Value value) {
  reads_ = 0;
  return read(value, 0);
}

void Expression::add_member(NodeId node) {
  if (std::ranges::find(members_, node) == members_.end()) {
    members_.push_back(node);
  }
}

// A symbol or a constant.
std::optional<Polynomial> Expression::leaf(Value value) {
  for (const Symbol& symbol : symbols_) {
    if (std::ranges::any_of(symbol.values, [&](Value each) {
          return each == value || (symbol.outside && index_.same(each, value));
        })) {
      if (!symbol.outside) {
        add_member(index_.maker(value));
      }
      return Polynomial::symbol(symbol.which);
    }
  }
  if (const auto scalar = index_.scalar(value)) {
    half_ = half_ || scalar->half;
    return Polynomial::constant(scalar->value);
  }
  const Tensor* tensor = index_.tensor(value);
  if (tensor == nullptr || tensor->dims.size() != 1 || tensor->dims.front() == 1) {
    return std::nullopt;
  }
  auto at = static_cast<std::size_t>(
      std::ranges::find_if(vectors_, [&](Value each) { return index_.same(each, value); }) -
      vectors_.begin());
  if (first_vector_ + at >= Term::kSymbols) {
    return std::nullopt;
  }
  if (at == vectors_.size()) {
    vectors_.push_back(value);
  }
  return Polynomial::symbol(first_vector_ + at);
}

std::optional<Polynomial> Expression::power(NodeId node, int depth) {
  const auto base = read(index_.input(node, 0), depth);
  const auto scalar = index_.scalar(index_.input(node, 1));
  if (!base || base->terms().size() > kTermsOfBase || !scalar || (scalar->value != 2 && scalar->value != 3)) {
    return std::nullopt;
  }
  const Polynomial square = *base * *base;
  return scalar->value == 2 ? square : square * *base;
}

std::optional<Polynomial> Expression::computed(NodeId node, int depth) {
  const std::string& op = index_.node(node).op;
  if (op == "Pow") {
    return power(node, depth);
  }
  const bool converts = index_.is_converted(index_.output(node));
  const bool unary = converts || !is_binary(op);
  const auto a = read(index_.input(node, 0), depth);
  const auto b = unary || !a ? a : read(index_.input(node, 1), depth);
  if (!a || !b || converts || op == "Add") {
    return !a || !b || converts ? b : *a + *b;
  }
  if (op == "Mul") {
    return *a * *b;
  }
  if (op == "Neg" || op == "Sub") {
    const Polynomial negative = *b * Polynomial::constant(-1);
    return op == "Neg" ? negative : *a + negative;
  }
  const auto inverse = b->reciprocal();
  return op == "Reciprocal" || !inverse ? inverse : *a * *inverse;
}

std::optional<Polynomial> Expression::read(Value value, int depth) {
  if (value == GraphIndex::kNone || depth > kDepth || ++reads_ > kReads) {
    return std::nullopt;
  }
  if (const auto found = leaf(value)) {
    return found;
  }
  const NodeId node = index_.maker(value);
  if (!is_arithmetic(index_, node)) {
    return std::nullopt;
  }
  add_member(node);
  const auto result = computed(node, depth + 1);
  return result && is_small(*result) ? result : std::nullopt;
}

bool is_arithmetic(const GraphIndex& index, GraphIndex::NodeId node) {
  if (node == GraphIndex::kNone || !index.alive(node) || !index.node(node).domain.empty()) {
    return false;
  }
  const std::string& op = index.node(node).op;
  return is_binary(op) || op == "Neg" || op == "Reciprocal" || op == "Pow" ||
         index.is_converted(index.output(node));
}

std::vector<GraphIndex::NodeId> possible_ends(const GraphIndex& index, GraphIndex::NodeId node) {
  std::vector<GraphIndex::NodeId> ends{node};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto readers = index.readers(index.output(ends[i]));
    if (readers.size() > kReaders) {
      continue;
    }
    for (const GraphIndex::NodeId reader : readers) {
      if (ends.size() == kEnds) {
        break;
      }
      if (is_arithmetic(index, reader) && std::ranges::find(ends, reader) == ends.end()) {
        ends.push_back(reader);
      }
    }
  }
  std::erase_if(ends, [&](GraphIndex::NodeId each) { return index.is_converted(index.output(each)); });
  std::ranges::sort(ends);
  return ends;
}

}  // namespace bench::kernels::onnx
