#include "kernels/networks/onnx/control_flow.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "kernels/networks/onnx/lower/copies.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::int64_t kMostUnrolled = std::int64_t{1} << 15;  // nodes

const Graph& graph_of(const Node& node, const std::string& attribute, const std::string& what) {
  const Attribute* const graph = node.find(attribute);
  if (graph == nullptr || graph->graph == nullptr) {
    throw Refused(what + " that is not given");
  }
  return *graph->graph;
}

}  // namespace

void ControlFlow::import(const Node& node) {
  node.op == "If" ? choose_branch(node) : unroll(node);
}

// Elements of inputs are data; those of a tensor that is not read are not.
void ControlFlow::require_no_data(const std::string& name, const Node& node, const std::string& what) {
  const auto guess = network_.guesses.find(name);
  if (guess == network_.guesses.end()) {
    return;
  }
  if (std::ranges::find(plan_.inputs, guess->second, &PlannedInput::name) != plan_.inputs.end()) {
    throw Refused(fmt::format("it branches on data, the input '{}'", guess->second));
  }
  network_.assume(fmt::format("{} of '{}' is chosen by '{}'.", what,
                              node.name.empty() ? node.outputs.front() : node.name, guess->second));
}

const Value& ControlFlow::result(const std::string& name) {
  const Value* const value = network_.find(name);
  if (value == nullptr) {
    throw Refused(fmt::format("nothing makes '{}'", name));
  }
  return *value;
}

void ControlFlow::set(const std::string& name, Value value) {
  value.name = name;
  network_.values.insert_or_assign(name, std::move(value));
}

// The branch that a known condition takes.
void ControlFlow::choose_branch(const Node& node) {
  Lowering lowering(network_, node);
  const Constant& condition = lowering.known(0, "its branches");
  require_no_data(node.inputs.front(), node, "The branch");
  const bool holds = condition.elements() > 0 && condition.value(0) != 0;
  const Graph& branch = graph_of(node, holds ? "then_branch" : "else_branch", "a branch");
  network_.index.add_initializers(branch);
  run_(branch);
  for (std::size_t i = 0; i < node.outputs.size() && i < branch.outputs.size(); ++i) {
    const std::string& name = branch.outputs[i].name;
    if (network_.unknown.contains(name)) {
      network_.unknown.insert(node.outputs[i]);
      continue;
    }
    lowering.set(Value(result(name)), i);
    if (const auto guess = network_.guesses.find(name); guess != network_.guesses.end()) {
      network_.guesses.insert_or_assign(node.outputs[i], guess->second);
    }
  }
}

bool ControlFlow::truth(const std::string& name, const Node& node, const std::string& what) {
  const Value& value = result(name);
  if (!value.is_known() || value.constant->elements() != 1) {
    throw Refused(what + " depends on data");
  }
  require_no_data(name, node, "The number of turns");
  return value.constant->value(0) != 0;
}

// Body: the turn's number, a condition and the values that turns pass on give another condition, those
// values, and values that are stacked over all turns.
void ControlFlow::unroll(const Node& node) {
  Lowering lowering(network_, node);
  const Graph& body = graph_of(node, "body", "a body");
  const std::size_t passed = node.inputs.size() - std::min<std::size_t>(node.inputs.size(), 2);
  if (body.inputs.size() != passed + 2 || body.outputs.size() < passed + 1 ||
      node.outputs.size() > body.outputs.size() - 1) {
    throw Refused("a body of another number of values than the loop's");
  }
  std::optional<std::int64_t> turns;
  if (lowering.has(0)) {
    turns = lowering.known(0, "its turns").whole();
    require_no_data(node.inputs[0], node, "The number of turns");
  }
  bool goes = !lowering.has(1) || truth(node.inputs[1], node, "its condition");
  std::vector<Value> values;
  for (std::size_t i = 0; i < passed; ++i) {
    values.push_back(lowering.any_in(i + 2));
  }
  std::vector<std::vector<Value>> all_turns(body.outputs.size() - 1 - passed);
  network_.index.add_initializers(body);
  for (std::int64_t turn = 0; goes && turn < turns.value_or(kMostUnrolled); ++turn) {
    unrolled_ += static_cast<std::int64_t>(body.nodes.size()) + 1;
    if (unrolled_ > kMostUnrolled) {
      throw Refused(fmt::format("loops of more than {} nodes in all turns", kMostUnrolled));
    }
    set(body.inputs[0].name,
        lowering.value(Constant::uniform(ElementType::i64, {}, static_cast<double>(turn))));
    set(body.inputs[1].name, lowering.value(Constant::uniform(ElementType::boolean, {}, 1)));
    for (std::size_t i = 0; i < passed; ++i) {
      set(body.inputs[i + 2].name, values[i]);
    }
    ++loops_;
    const bool imported = run_(body);
    --loops_;
    const auto is_unknown = [&](const ValueInfo& output) { return network_.unknown.contains(output.name); };
    if (!imported || std::ranges::any_of(body.outputs, is_unknown)) {
      network_.unknown.insert(node.outputs.begin(), node.outputs.end());
      return;
    }
    goes = truth(body.outputs[0].name, node, "its condition");
    for (std::size_t i = 0; i < passed; ++i) {
      values[i] = result(body.outputs[i + 1].name);
    }
    for (std::size_t i = 0; i < all_turns.size(); ++i) {
      all_turns[i].push_back(result(body.outputs[passed + 1 + i].name));
    }
  }
  if (goes && !turns) {
    throw Refused("a loop without an end");
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i < passed) {
      lowering.set(values[i], i);
    } else if (!node.outputs[i].empty()) {
      lowering.set(stacked(lowering, all_turns[i - passed], 0), i);
    }
  }
}

}  // namespace bench::kernels::onnx
