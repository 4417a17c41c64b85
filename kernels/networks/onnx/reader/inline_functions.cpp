#include "kernels/networks/onnx/reader/inline_functions.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bench/text/quote.h"

namespace bench::kernels::onnx {
namespace {

std::uint64_t footprint(const std::vector<std::string>& names) {
  std::uint64_t bytes = 0;
  for (const std::string& name : names) {
    bytes += sizeof(std::string) + name.size();
  }
  return bytes;
}

// Bytes of a node's copy: its attributes' graphs and tensors are shared.
std::uint64_t footprint(const Node& node) {
  std::uint64_t bytes = sizeof(Node) + node.name.size() + node.op.size() + node.domain.size() +
                        footprint(node.inputs) + footprint(node.outputs);
  for (const Attribute& attribute : node.attributes) {
    bytes += sizeof(Attribute) + attribute.name.size() + (attribute.s ? attribute.s->size() : 0) +
             attribute.floats.size() * sizeof(float) + attribute.ints.size() * sizeof(std::int64_t) +
             footprint(attribute.strings);
  }
  return bytes;
}

// Maps a function's names to the caller's; a graph in it sees those around it.
struct Names {
  const Names* outer = nullptr;
  std::unordered_map<std::string_view, std::string> renamed{};

  const std::string* find(std::string_view name) const {
    for (const Names* names = this; names != nullptr; names = names->outer) {
      const auto found = names->renamed.find(name);
      if (found != names->renamed.end()) {
        return &found->second;
      }
    }
    return nullptr;
  }
};

class Inliner {
 public:
  Inliner(Model& model, const std::vector<Function>& functions, Allowance& allowance)
      : model_(model), allowance_(allowance) {
    for (const Function& function : functions) {
      if (!functions_.emplace(std::tuple{function.domain, function.name, function.overload}, &function)
               .second) {
        throw Refusal(fmt::format("has two functions of the name {}; export it again", quote(function.name)));
      }
    }
    note_names(model.graph);
  }

  void run() { expand(model_.graph); }

 private:
  // One call: the function, the call's node, and the names of its values.
  struct Call {
    const Function& function;
    const Node& node;
    Names names;
  };

  void note_names(const Graph& graph);
  std::string unique(const Call& call, const std::string& name);
  void expand(Graph& graph);
  void expand(Node node, std::vector<Node>& nodes);
  void enter(const Function& function, const Node& node);
  void call(const Function& function, const Node& node, std::vector<Node>& nodes);
  Node copy(Call& call, const Names& names, const Node& node);
  Graph copy(Call& call, const Names& outer, const Graph& graph);
  std::string renamed(const Call& call, const Names& names, const std::string& name) const;
  const Attribute* resolved(const Call& call, const Attribute& attribute) const;

  Model& model_;
  Allowance& allowance_;
  std::map<std::tuple<std::string, std::string, std::string>, const Function*> functions_;
  std::vector<const Function*> calls_;  // that are being inlined, the outermost first
  std::unordered_set<std::string> names_;
  std::uint64_t clashes_ = 0;
};

void Inliner::note_names(const Graph& graph) {
  const auto note = [&](const std::string& name) {
    allowance_.keep(sizeof(std::string) + name.size());
    names_.insert(name);
  };
  for (const ValueInfo& input : graph.inputs) {
    note(input.name);
  }
  for (const Tensor& tensor : graph.initializers) {
    note(tensor.name);
  }
  for (const Node& node : graph.nodes) {
    std::for_each(node.outputs.begin(), node.outputs.end(), note);
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph) {
        note_names(*attribute.graph);
      }
    }
  }
}

std::string Inliner::unique(const Call& call, const std::string& name) {
  std::string made = call.node.name + "/" + name;
  allowance_.keep(2 * (sizeof(std::string) + made.size()));
  while (!names_.insert(made).second) {
    made = fmt::format("{}/{}#{}", call.node.name, name, ++clashes_);
  }
  return made;
}

void Inliner::expand(Graph& graph) {
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    expand(std::move(node), nodes);
  }
  graph.nodes = std::move(nodes);
}

void Inliner::expand(Node node, std::vector<Node>& nodes) {
  for (Attribute& attribute : node.attributes) {
    if (attribute.graph) {
      const auto inner = std::make_shared<Graph>(*attribute.graph);
      expand(*inner);
      attribute.graph = inner;
    }
  }
  const auto found = functions_.find(std::tuple{node.domain, node.op, node.overload});
  if (found == functions_.end()) {
    nodes.push_back(std::move(node));
    return;
  }
  enter(*found->second, node);
  call(*found->second, node, nodes);
  calls_.pop_back();
}

void Inliner::enter(const Function& function, const Node& node) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end()) {
    throw Refusal(fmt::format("has a function {} that calls itself; export it again", quote(function.name)));
  }
  if (calls_.size() >= kDeepestCall) {
    throw Refusal(
        fmt::format("has functions that call each other more than {} deep; export it with its functions "
                    "inlined (onnx.inliner)",
                    kDeepestCall));
  }
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    throw Refusal(
        fmt::format("is damaged: {} and its function differ in their inputs ({} and {}) or outputs ({} and "
                    "{}); export it again",
                    described(node), node.inputs.size(), function.inputs.size(), node.outputs.size(),
                    function.outputs.size()));
  }
  for (const auto& [domain, version] : function.opsets) {
    const auto [imported, added] = model_.opsets.emplace(domain, version);
    if (domain.empty() && imported->second != version) {
      throw Refusal(
          fmt::format("has a function {} for version {} of ONNX's operators in a network for version {}; "
                      "export it with its functions inlined (onnx.inliner)",
                      quote(function.name), version, imported->second));
    }
  }
  calls_.push_back(&function);
}

void Inliner::call(const Function& function, const Node& node, std::vector<Node>& nodes) {
  allowance_.keep(footprint(function.inputs) + footprint(function.outputs));
  Call call{.function = function, .node = node, .names = {}};
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    call.names.renamed.emplace(function.inputs[i], i < node.inputs.size() ? node.inputs[i] : "");
  }
  std::vector<std::pair<std::string, std::string>> passed;  // a name of the function, and the caller's for it
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty() &&
        !call.names.renamed.emplace(function.outputs[i], node.outputs[i]).second) {
      passed.emplace_back(function.outputs[i], node.outputs[i]);
    }
  }
  for (const Node& inner : function.nodes) {
    for (const std::string& output : inner.outputs) {
      if (!output.empty() && !call.names.renamed.contains(output)) {
        call.names.renamed.emplace(output, unique(call, output));
      }
    }
  }
  for (const Node& inner : function.nodes) {
    expand(copy(call, call.names, inner), nodes);
  }
  for (const auto& [from, to] : passed) {
    allowance_.add_node();
    nodes.push_back({.name = node.name + "/" + from,
                     .op = "Identity",
                     .domain = {},
                     .overload = {},
                     .inputs = {renamed(call, call.names, from)},
                     .outputs = {to},
                     .attributes = {}});
  }
}

Node Inliner::copy(Call& call, const Names& names, const Node& node) {
  allowance_.add_node();
  allowance_.add_inputs(node.inputs.size());
  allowance_.keep(footprint(node) + call.node.name.size());
  Node made{.name = call.node.name + "/" + node.name,
            .op = node.op,
            .domain = node.domain,
            .overload = node.overload,
            .inputs = {},
            .outputs = {},
            .attributes = {}};
  for (const std::string& input : node.inputs) {
    made.inputs.push_back(renamed(call, names, input));
    allowance_.keep(made.inputs.back().size());
  }
  for (const std::string& output : node.outputs) {
    made.outputs.push_back(renamed(call, names, output));
    allowance_.keep(made.outputs.back().size());
  }
  for (const Attribute& attribute : node.attributes) {
    if (const Attribute* given = resolved(call, attribute)) {
      Attribute& kept = made.attributes.emplace_back(*given);
      kept.name = attribute.name;
      // A caller's own graph reads the caller's names.
      if (kept.graph && given == &attribute) {
        kept.graph = std::make_shared<Graph>(copy(call, names, *kept.graph));
      }
    }
  }
  return made;
}

Graph Inliner::copy(Call& call, const Names& outer, const Graph& graph) {
  Names names{.outer = &outer};
  Graph made = graph;
  made.nodes.clear();
  const auto rename = [&](std::string_view old, std::string& name) {
    name = names.renamed.emplace(old, unique(call, name)).first->second;
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    rename(graph.inputs[i].name, made.inputs[i].name);
  }
  for (std::size_t i = 0; i < graph.initializers.size(); ++i) {
    rename(graph.initializers[i].name, made.initializers[i].name);
  }
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty() && !names.renamed.contains(output)) {
        names.renamed.emplace(output, unique(call, output));
      }
    }
  }
  for (const Node& node : graph.nodes) {
    made.nodes.push_back(copy(call, names, node));
  }
  for (ValueInfo& output : made.outputs) {
    output.name = renamed(call, names, output.name);
  }
  made.values.clear();  // of names that are no more
  return made;
}

std::string Inliner::renamed(const Call& call, const Names& names, const std::string& name) const {
  if (name.empty()) {
    return name;
  }
  const std::string* found = names.find(name);
  if (found == nullptr) {
    throw Refusal(fmt::format("is incomplete: its function {} reads {}, which nothing makes; export it again",
                              quote(call.function.name), quote(name)));
  }
  return *found;
}

// The attribute, or the caller's that it refers to, or the function's default; nullptr: not given.
const Attribute* Inliner::resolved(const Call& call, const Attribute& attribute) const {
  if (attribute.reference.empty()) {
    return &attribute;
  }
  if (const Attribute* given = call.node.find(attribute.reference)) {
    return given;
  }
  const auto& defaults = call.function.defaults;
  const auto found = std::find_if(defaults.begin(), defaults.end(), [&](const Attribute& candidate) {
    return candidate.name == attribute.reference;
  });
  return found == defaults.end() ? nullptr : &*found;
}

}  // namespace

void inline_functions(Protos& protos, Allowance& allowance) {
  if (!protos.functions.empty()) {
    Inliner(protos.model, protos.functions, allowance).run();
  }
}

}  // namespace bench::kernels::onnx
