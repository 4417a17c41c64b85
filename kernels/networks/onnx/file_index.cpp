#include "kernels/networks/onnx/file_index.h"

#include <algorithm>
#include <ranges>

namespace bench::kernels::onnx {
namespace {

template <class Held>
Held* found(const std::unordered_map<std::string, Held*>& all, const std::string& name) {
  const auto at = all.find(name);
  return at == all.end() ? nullptr : at->second;
}

}  // namespace

FileIndex::FileIndex(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      makers_.emplace(output, &node);
    }
  }
  add_initializers(graph);
  add_readers(graph);
  const auto chosen = std::ranges::find_if(graph.outputs, [](const ValueInfo& output) {
    return is_float(output.type) || output.type == ElementType::undefined;
  });
  if (!graph.outputs.empty()) {
    output_ = chosen == graph.outputs.end() ? graph.outputs.front().name : chosen->name;
    find_unneeded(graph);
  }
}

void FileIndex::add_initializers(const Graph& graph) {
  for (const Tensor& tensor : graph.initializers) {
    initializers_.insert_or_assign(tensor.name, &tensor);
  }
}

void FileIndex::add_readers(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) {
      if (!input.empty()) {
        readers_[input].push_back(&node);
      }
    }
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph != nullptr) {
        add_readers(*attribute.graph);
      }
    }
  }
  for (const ValueInfo& output : graph.outputs) {
    readers_[output.name].push_back(nullptr);
  }
}

// Nodes are in order: the last one first.
void FileIndex::find_unneeded(const Graph& graph) {
  std::unordered_set<std::string> names{output_};
  const auto need = [&](const auto& self, const Node& node) -> void {
    names.insert(node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph == nullptr) {
        continue;
      }
      for (const Node& nested : attribute.graph->nodes) {
        self(self, nested);
      }
      for (const ValueInfo& output : attribute.graph->outputs) {
        names.insert(output.name);
      }
    }
  };
  for (const Node& node : graph.nodes | std::views::reverse) {
    if (std::ranges::any_of(node.outputs, [&](const std::string& name) { return names.contains(name); })) {
      need(need, node);
    } else {
      unneeded_.insert(&node);
    }
  }
}

const std::vector<const Node*>& FileIndex::readers(const std::string& name) const {
  static const std::vector<const Node*> kNone;
  const auto at = readers_.find(name);
  return at == readers_.end() ? kNone : at->second;
}

const Node* FileIndex::sole_reader(const std::string& name) const {
  const auto& all = readers(name);
  return all.size() == 1 ? all.front() : nullptr;
}

const Node* FileIndex::maker(const std::string& name) const {
  return found(makers_, name);
}

const Tensor* FileIndex::initializer(const std::string& name) const {
  return found(initializers_, name);
}

}  // namespace bench::kernels::onnx
