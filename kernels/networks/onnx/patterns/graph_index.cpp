#include "kernels/networks/onnx/patterns/graph_index.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/constant.h"
#include "kernels/networks/onnx/patterns/ranks.h"

namespace bench::kernels::onnx {
namespace {

// Longer lists are no shapes, axes or factors.
constexpr std::size_t kLongest = 4096;

// nullptr where the file does not have the elements.
std::shared_ptr<const Constant> read(const Tensor& tensor) {
  if (tensor.external || tensor.bytes.empty() || tensor.bytes.size() > kLongest * sizeof(double)) {
    return nullptr;
  }
  Budget budget;
  return constant_of(tensor, budget);
}

bool one_element(const std::vector<std::int64_t>& dims) {
  return dims.empty() || dims == std::vector<std::int64_t>{1};
}

std::optional<GraphIndex::Scalar> scalar_of(const Tensor& tensor) {
  const auto constant = one_element(tensor.dims) ? read(tensor) : nullptr;
  if (constant == nullptr) {
    return std::nullopt;
  }
  return GraphIndex::Scalar{constant->value(0),
                            tensor.type == ElementType::f16 || tensor.type == ElementType::bf16};
}

}  // namespace

GraphIndex::GraphIndex(Graph& graph) : graph_(graph), places_(graph.nodes.size()) {
  for (const Tensor& tensor : graph.initializers) {
    ValueEntry& entry = values_[number(tensor.name)];
    entry.tensor = &tensor;
    entry.rank = tensor.dims.size();
    entry.scalar = scalar_of(tensor);
  }
  for (const auto* infos : {&graph.inputs, &graph.values, &graph.outputs}) {
    for (const ValueInfo& info : *infos) {
      ValueEntry& entry = values_[number(info.name)];
      if (info.dims) {
        entry.rank = info.dims->size();
      }
    }
  }
  for (NodeId node = 0; node < size(); ++node) {
    add_node(node);
  }
  for (const ValueInfo& output : graph.outputs) {
    keep(output.name);
  }
  keep_nested_reads();
}

GraphIndex::Value GraphIndex::number(const std::string& name) {
  const auto [at, added] = numbers_.emplace(name, values_.size());
  if (added) {
    values_.emplace_back();
    values_.back().name = name;
    values_.back().root = at->second;
  }
  return at->second;
}

void GraphIndex::add_node(NodeId id) {
  const Node& node = graph_.nodes[id];
  for (const std::string& name : node.inputs) {
    const Value value = name.empty() ? kNone : number(name);
    places_[id].inputs.push_back(value);
    if (value != kNone) {
      values_[value].readers.push_back(id);
      ++values_[value].reads;
    }
  }
  for (const std::string& name : node.outputs) {
    if (!name.empty()) {
      const Value value = number(name);
      places_[id].outputs.push_back(value);
      values_[value].maker = id;
    }
  }
  if (places_[id].outputs.size() == 1) {
    find_root(id);
    find_scalar(id);
    if (!rank(output(id))) {
      values_[output(id)].rank = result_rank(*this, id);
    }
  }
}

void GraphIndex::find_root(NodeId id) {
  const Value source = input(id, 0);
  if (source != kNone &&
      (is(id, "Identity") ||
       (is(id, "Cast") && is_float(static_cast<ElementType>(integer_of(node(id), "to", 0)))))) {
    values_[output(id)].root = root(source);
  }
}

void GraphIndex::find_scalar(NodeId id) {
  ValueEntry& entry = values_[output(id)];
  if (is(id, "Constant")) {
    for (const Attribute& attribute : node(id).attributes) {
      if (attribute.name == "value" && attribute.tensor) {
        entry.tensor = &*attribute.tensor;
        entry.rank = attribute.tensor->dims.size();
        entry.scalar = scalar_of(*attribute.tensor);
      } else if (attribute.name == "value_float" && attribute.f) {
        entry.scalar = Scalar{.value = *attribute.f};
      } else if (attribute.name == "value_int" && attribute.i) {
        entry.scalar = Scalar{.value = static_cast<double>(*attribute.i)};
      } else if (attribute.name == "value_floats" && attribute.floats.size() == 1) {
        entry.scalar = Scalar{.value = attribute.floats.front()};
      } else if (attribute.name == "value_ints" && attribute.ints.size() == 1) {
        entry.scalar = Scalar{.value = static_cast<double>(attribute.ints.front())};
      }
    }
  } else if (const Value source = input(id, 0);
             source != kNone &&
             (is_converted(output(id)) || (is(id, "Unsqueeze") && rank(source) == std::size_t{0}))) {
    entry.scalar = scalar(source);
  }
}

void GraphIndex::keep(const std::string& name) {
  if (const auto at = numbers_.find(name); at != numbers_.end()) {
    values_[at->second].kept = true;
  }
}

// A nested graph may read every value that was made before its node.
void GraphIndex::keep_nested_reads() {
  std::vector<const Graph*> nested;
  const auto add_graphs_of = [&](const Node& node) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph) {
        nested.push_back(attribute.graph.get());
      }
    }
  };
  std::ranges::for_each(graph_.nodes, add_graphs_of);
  while (!nested.empty()) {
    const Graph& inner = *nested.back();
    nested.pop_back();
    for (const Node& node : inner.nodes) {
      std::ranges::for_each(node.inputs, [&](const std::string& name) { keep(name); });
      add_graphs_of(node);
    }
    for (const ValueInfo& output : inner.outputs) {
      keep(output.name);
    }
  }
}

bool GraphIndex::is(NodeId id, std::string_view op) const {
  return node(id).op == op && node(id).domain.empty();
}

GraphIndex::Value GraphIndex::input(NodeId id, std::size_t which) const {
  const std::vector<Value>& inputs = places_[id].inputs;
  return which < inputs.size() ? inputs[which] : kNone;
}

GraphIndex::Value GraphIndex::output(NodeId id) const {
  const std::vector<Value>& outputs = places_[id].outputs;
  return outputs.empty() ? kNone : outputs.front();
}

std::vector<std::int64_t> GraphIndex::integers(Value value) const {
  if (const Tensor* list = tensor(value)) {
    const auto constant = read(*list);
    return constant == nullptr ? std::vector<std::int64_t>{} : constant->wholes();
  }
  const NodeId id = maker(root(value));
  if (id != kNone && is(id, "Constant")) {
    if (const Attribute* list = node(id).find("value_ints")) {
      return list->ints;
    }
  }
  return {};
}

bool GraphIndex::all(Value value, double expected) const {
  const auto constant = tensor(value) == nullptr ? nullptr : read(*tensor(value));
  return constant != nullptr && constant->is_uniform() && constant->value(0) == expected;
}

bool GraphIndex::is_mean_of_last(NodeId id) const {
  if (!is(id, "ReduceMean") || integer_of(node(id), "keepdims", 1) == 0) {
    return false;
  }
  std::vector<std::int64_t> axes;
  if (const Attribute* attribute = node(id).find("axes")) {
    axes = attribute->ints;
  } else if (const Value given = input(id, 1); given != kNone) {
    axes = integers(given);
  }
  if (axes.size() != 1) {
    return false;
  }
  if (axes.front() == -1) {
    return true;
  }
  const auto known = rank(input(id, 0));
  return known && axes.front() + 1 == static_cast<std::int64_t>(*known);
}

bool GraphIndex::closed(std::span<const NodeId> members, NodeId last) const {
  return std::ranges::all_of(members, [&](NodeId member) {
    return member == last || std::ranges::all_of(places_[member].outputs, [&](Value value) {
             return !values_[value].kept && std::ranges::all_of(readers(value), [&](NodeId reader) {
               return !alive(reader) || std::ranges::find(members, reader) != members.end();
             });
           });
  });
}

void GraphIndex::replace(std::span<const NodeId> members, NodeId last, std::string_view domain,
                         std::string_view op, std::span<const Value> inputs,
                         std::vector<Attribute> attributes) {
  Node& node = graph_.nodes[last];
  node.op = op;
  node.domain = domain;
  node.inputs.clear();
  node.attributes = std::move(attributes);
  // Read by the new node before the old ones go, so that what makes its inputs stays.
  std::vector<Value> read;
  for (const Value value : inputs) {
    if (value != kNone) {
      read.push_back(value);
      node.inputs.push_back(name(value));
      values_[value].readers.push_back(last);
      ++values_[value].reads;
    }
  }
  const std::vector<Value> no_longer_read = std::exchange(places_[last].inputs, std::move(read));
  for (const NodeId member : members) {
    if (member != last) {
      remove(member);
    }
  }
  std::ranges::for_each(release(no_longer_read), [&](NodeId id) { remove(id); });
}

std::vector<GraphIndex::NodeId> GraphIndex::release(const std::vector<Value>& inputs) {
  std::vector<NodeId> unread;
  for (const Value value : inputs) {
    if (value != kNone && --values_[value].reads == 0 && maker(value) != kNone &&
        std::ranges::none_of(places_[maker(value)].outputs, [&](Value output) {
          return values_[output].reads > 0 || values_[output].kept;
        })) {
      unread.push_back(maker(value));
    }
  }
  return unread;
}

void GraphIndex::remove(NodeId first) {
  std::vector<NodeId> unread{first};
  while (!unread.empty()) {
    const NodeId id = unread.back();
    unread.pop_back();
    if (std::exchange(places_[id].alive, false)) {
      std::ranges::copy(release(places_[id].inputs), std::back_inserter(unread));
    }
  }
}

void GraphIndex::finish() {
  std::vector<Node> left;
  left.reserve(size());
  for (NodeId id = 0; id < size(); ++id) {
    if (alive(id)) {
      left.push_back(std::move(graph_.nodes[id]));
    }
  }
  graph_.nodes = std::move(left);
}

}  // namespace bench::kernels::onnx
