// A file's graph by the names of its values: who makes and who reads each, and what the output needs.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// The nodes and tensors are the graph's: they stay where they are.
class FileIndex {
 public:
  explicit FileIndex(const Graph& graph);

  // The output that the network is for: the first of floats, else the first; empty where there is none.
  const std::string& output() const { return output_; }
  // Whether it is a node of the outermost graph on which the output does not depend.
  bool is_unneeded(const Node& node) const { return unneeded_.contains(&node); }

  // Nodes that read a value, those of nested graphs too, and nullptr for each output.
  const std::vector<const Node*>& readers(const std::string& name) const;
  // The only node that reads it; nullptr where there are several, or none.
  const Node* sole_reader(const std::string& name) const;
  const Node* maker(const std::string& name) const;          // of the outermost graph; nullptr: none
  const Tensor* initializer(const std::string& name) const;  // of any graph that was added; nullptr: none
  // A nested graph's, from when it is computed.
  void add_initializers(const Graph& graph);

 private:
  void add_readers(const Graph& graph);
  void find_unneeded(const Graph& graph);

  std::string output_;
  std::unordered_set<const Node*> unneeded_;
  std::unordered_map<std::string, std::vector<const Node*>> readers_;
  std::unordered_map<std::string, const Node*> makers_;
  std::unordered_map<std::string, const Tensor*> initializers_;
};

}  // namespace bench::kernels::onnx
