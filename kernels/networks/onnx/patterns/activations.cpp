// Activations x · gate(x): the gate is an operator of ONNX on a polynomial of x, and what is made of both is
// again a polynomial.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/patterns/groups.h"
#include "kernels/networks/onnx/patterns/polynomial.h"

namespace bench::kernels::onnx {
namespace {

using NodeId = GraphIndex::NodeId;
constexpr std::size_t kX = 0;
constexpr std::size_t kGate = 1;

// factor · x^x_power · gate^gate_power
Term term(double factor, std::int8_t x_power, std::int8_t gate_power = 0) {
  return {.powers = {x_power, gate_power}, .factor = factor};
}

enum class Gate { erf, tanh, sigmoid, hard_sigmoid, clip_6, clip_1 };

struct Activation {
  Gate gate;
  Polynomial argument;  // of x
  Polynomial result;    // of x and the gate
  const char* domain;
  const char* op;
  std::vector<Attribute> attributes;
};

Attribute number(const char* name, float value) {
  Attribute attribute;
  attribute.name = name;
  attribute.f = value;
  return attribute;
}

Attribute approximate(const char* value) {
  Attribute attribute;
  attribute.name = "approximate";
  attribute.s = value;
  return attribute;
}

// Where one contains another, the larger is first.
std::vector<Activation> activations() {
  const Polynomial x{term(1, 1)};
  const Polynomial half{term(0.5, 1), term(0.5, 1, 1)};  // x · ½ · (1 + gate)
  const Polynomial product{term(1, 1, 1)};
  const double tanh_scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const std::vector<Attribute> sixth{number("alpha", 1.0F / 6), number("beta", 0.5F)};
  return {
      // Hendrycks and Gimpel 2016, arXiv:1606.08415
      {Gate::erf, {term(std::numbers::sqrt2 / 2, 1)}, half, "bench", "Gelu", {approximate("none")}},
      {Gate::tanh,
       {term(tanh_scale, 1), term(0.044715 * tanh_scale, 3)},
       half,
       "bench",
       "Gelu",
       {approximate("tanh")}},
      {Gate::sigmoid, x, product, "bench", "Silu", {}},
      // Howard et al. 2019, arXiv:1905.02244
      {Gate::hard_sigmoid, x, product, "bench", "HardSwish", {}},
      {Gate::clip_6, {term(1, 1), term(3, 0)}, {term(1.0 / 6, 1, 1)}, "bench", "HardSwish", {}},
      {Gate::clip_6, {term(1, 1), term(3, 0)}, {term(1.0 / 6, 0, 1)}, "", "HardSigmoid", sixth},
      {Gate::clip_1, {term(1.0 / 6, 1), term(0.5, 0)}, product, "bench", "HardSwish", {}},
      {Gate::clip_1, {term(1.0 / 6, 1), term(0.5, 0)}, {term(1, 0, 1)}, "", "HardSigmoid", sixth},
  };
}

// A gate at a node, which may end a chain of other members.
struct Found {
  Gate gate = Gate::erf;
  GraphIndex::Value argument = GraphIndex::kNone;
  std::vector<NodeId> members;
};

// Narrows the bounds to those of a Clip, Relu, Min or Max; false for other nodes and unknown bounds.
bool narrow(const GraphIndex& index, NodeId node, double& low, double& high) {
  const auto bound = [&](std::size_t which, const char* attribute,
                         double otherwise) -> std::optional<double> {
    if (const GraphIndex::Value value = index.input(node, which); value != GraphIndex::kNone) {
      const auto scalar = index.scalar(value);
      return scalar ? std::optional(scalar->value) : std::nullopt;
    }
    return number_of(index.node(node), attribute, static_cast<float>(otherwise));  // before opset 11
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::optional<double> at_least = -kInfinity;
  std::optional<double> at_most = kInfinity;
  if (index.is(node, "Clip")) {
    at_least = bound(1, "min", -kInfinity);
    at_most = bound(2, "max", kInfinity);
  } else if (index.is(node, "Relu")) {
    at_least = 0;
  } else if (index.is(node, "Max") && index.node(node).inputs.size() == 2) {
    at_least = bound(1, "", -kInfinity);
  } else if (index.is(node, "Min") && index.node(node).inputs.size() == 2) {
    at_most = bound(1, "", kInfinity);
  } else {
    return false;
  }
  if (!at_least || !at_most) {
    return false;
  }
  low = std::max(low, *at_least);
  high = std::min(high, *at_most);
  return true;
}

std::optional<Found> clip(const GraphIndex& index, NodeId node) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  Found found;
  for (NodeId at = node; at != GraphIndex::kNone && found.members.size() < 3 && narrow(index, at, low, high);
       at = index.maker(found.argument)) {
    found.members.push_back(at);
    found.argument = index.input(at, 0);
  }
  if (found.members.empty() || low != 0 || (high != 6 && high != 1)) {
    return std::nullopt;
  }
  found.gate = high == 6 ? Gate::clip_6 : Gate::clip_1;
  return found;
}

std::optional<Found> gate_at(const GraphIndex& index, NodeId node) {
  static const std::array<std::pair<const char*, Gate>, 3> kPlain{
      {{"Erf", Gate::erf}, {"Tanh", Gate::tanh}, {"Sigmoid", Gate::sigmoid}}};
  for (const auto& [op, gate] : kPlain) {
    if (index.is(node, op)) {
      return Found{gate, index.input(node, 0), {node}};
    }
  }
  if (index.is(node, "HardSigmoid")) {
    const Node& made = index.node(node);
    const bool sixth = std::abs(number_of(made, "alpha", 0.2F) - 1.0F / 6) < 1e-4F / 6 &&
                       std::abs(number_of(made, "beta", 0.5F) - 0.5F) < 1e-4F / 2;
    return sixth ? std::optional(Found{Gate::hard_sigmoid, index.input(node, 0), {node}}) : std::nullopt;
  }
  return clip(index, node);
}

// Values that the argument may be a polynomial of, the argument itself first.
std::vector<GraphIndex::Value> possible_inputs(const GraphIndex& index, GraphIndex::Value argument) {
  constexpr std::size_t kMost = 12;
  std::vector<GraphIndex::Value> values{argument};
  for (std::size_t i = 0; i < values.size() && values.size() < kMost; ++i) {
    const NodeId node = index.maker(values[i]);
    for (std::size_t which = 0; is_arithmetic(index, node) && which < 2; ++which) {
      const GraphIndex::Value value = index.input(node, which);
      if (value != GraphIndex::kNone && !index.scalar(value)) {
        values.push_back(value);
      }
    }
  }
  return values;
}

// Replaces the group that computes the activation of x, if there is one.
bool replace(GraphIndex& index, const Activation& activation, const Found& found, GraphIndex::Value x) {
  Expression argument(index, {{{x}, kX, true}});
  const auto inner = argument.of(found.argument);
  if (!inner || !inner->is_near(activation.argument, argument.tolerance())) {
    return false;
  }
  const NodeId gate = found.members.front();
  for (const NodeId end : possible_ends(index, gate)) {
    Expression result(index, {{{x}, kX, true}, {{index.output(gate)}, kGate}});
    const auto outer = result.of(index.output(end));
    if (!outer || !outer->is_near(activation.result, result.tolerance())) {
      continue;
    }
    std::vector<NodeId> members = found.members;
    std::ranges::copy(argument.members(), std::back_inserter(members));
    std::ranges::copy(result.members(), std::back_inserter(members));
    if (index.closed(members, end)) {
      index.replace(members, end, activation.domain, activation.op, std::array{x}, activation.attributes);
      return true;
    }
  }
  return false;
}

}  // namespace

bool recognise_activation(GraphIndex& index, GraphIndex::NodeId node) {
  static const std::vector<Activation> kActivations = activations();
  const auto found = gate_at(index, node);
  if (!found || found->argument == GraphIndex::kNone) {
    return false;
  }
  const std::vector<GraphIndex::Value> inputs = possible_inputs(index, found->argument);
  return std::ranges::any_of(kActivations, [&](const Activation& activation) {
    return activation.gate == found->gate && std::ranges::any_of(inputs, [&](GraphIndex::Value x) {
             return replace(index, activation, *found, x);
           });
  });
}

}  // namespace bench::kernels::onnx
