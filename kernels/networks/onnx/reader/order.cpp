#include "kernels/networks/onnx/reader/order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bench/text/quote.h"
#include "kernels/networks/onnx/reader/refusal.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::size_t kGiven = static_cast<std::size_t>(-1);  // an input or an initializer: no node makes it

// Names that nodes of one graph may read: its own, and those of the graphs around it.
class Scope {
 public:
  Scope(const Graph& graph, Scope* outer) : outer_(outer) {
    for (const ValueInfo& input : graph.inputs) {
      add(input.name, kGiven);
    }
    for (const Tensor& tensor : graph.initializers) {
      add(tensor.name, kGiven);
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string& output : graph.nodes[i].outputs) {
        if (!output.empty()) {
          add(output, i);
        }
      }
    }
  }

  // Notes that this graph's current node, or the node around this graph, needs what makes the value. False
  // where nothing does.
  bool use(std::string_view name) {
    for (Scope* scope = this; scope != nullptr; scope = scope->outer_) {
      const auto found = scope->makers_.find(name);
      if (found != scope->makers_.end()) {
        if (found->second != kGiven) {
          scope->needs_.push_back(found->second);
        }
        return true;
      }
    }
    return false;
  }

  // Nodes that make what was used since the last call, each once.
  std::vector<std::size_t> take_needs() {
    std::sort(needs_.begin(), needs_.end());
    needs_.erase(std::unique(needs_.begin(), needs_.end()), needs_.end());
    return std::exchange(needs_, {});
  }

 private:
  void add(std::string_view name, std::size_t maker) {
    if (!makers_.emplace(name, maker).second) {
      throw Refusal(fmt::format("has two values of the name {}; export it again", quote(name)));
    }
  }

  Scope* outer_;
  std::unordered_map<std::string_view, std::size_t> makers_;
  std::vector<std::size_t> needs_;
};

using Needs = std::vector<std::vector<std::size_t>>;  // for each node, those before it

[[noreturn]] void refuse_cycle(const Graph& graph, const Needs& needs, const std::vector<bool>& placed) {
  // Every node that is left needs another one that is left: going backwards ends in the cycle.
  std::size_t at = static_cast<std::size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  std::vector<bool> seen(graph.nodes.size());
  while (!seen[at]) {
    seen[at] = true;
    at = *std::find_if(needs[at].begin(), needs[at].end(), [&](std::size_t need) { return !placed[need]; });
  }
  throw Refusal(
      fmt::format("has a cycle: {} needs its own result; export it again", described(graph.nodes[at])));
}

// Kahn's algorithm; of the nodes that could be next, the first in the file is.
std::vector<std::size_t> sorted(const Graph& graph, const Needs& needs) {
  std::vector<std::vector<std::size_t>> users(needs.size());
  std::vector<std::size_t> missing(needs.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    missing[i] = needs[i].size();
    for (const std::size_t need : needs[i]) {
      users[need].push_back(i);
    }
    if (missing[i] == 0) {
      ready.push(i);
    }
  }
  std::vector<std::size_t> order;
  std::vector<bool> placed(needs.size());
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    placed[next] = true;
    order.push_back(next);
    for (const std::size_t user : users[next]) {
      if (--missing[user] == 0) {
        ready.push(user);
      }
    }
  }
  if (order.size() < needs.size()) {
    refuse_cycle(graph, needs, placed);
  }
  return order;
}

void order_nodes(Graph& graph, Scope* outer) {
  Scope scope(graph, outer);
  Needs needs(graph.nodes.size());
  bool in_order = true;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    for (const std::string& input : node.inputs) {
      if (!input.empty() && !scope.use(input)) {
        throw Refusal(fmt::format("is incomplete: {} reads {}, which nothing makes; export it again",
                                  described(node), quote(input)));
      }
    }
    for (Attribute& attribute : node.attributes) {
      if (!attribute.reference.empty()) {
        throw Refusal(
            fmt::format("is damaged: {} refers to an attribute {} of a function, and is in none; export it "
                        "again",
                        described(node), quote(attribute.reference)));
      }
      if (attribute.graph) {
        const auto inner = std::make_shared<Graph>(*attribute.graph);
        order_nodes(*inner, &scope);
        attribute.graph = inner;
      }
    }
    needs[i] = scope.take_needs();
    in_order &= needs[i].empty() || needs[i].back() < i;
  }
  for (const ValueInfo& output : graph.outputs) {
    if (!scope.use(output.name)) {
      throw Refusal(
          fmt::format("is incomplete: nothing makes its output {}; export it again", quote(output.name)));
    }
  }
  if (in_order) {
    return;
  }
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes.size());
  for (const std::size_t i : sorted(graph, needs)) {
    nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace

void order_nodes(Graph& graph) {
  order_nodes(graph, nullptr);
}

}  // namespace bench::kernels::onnx
