// An ONNX file as a network of ours: layers, with the batch free again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/networks/graph/graph.h"
#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

struct Constant;

struct ImportOptions {
  // Sizes of inputs, by name; the first dimension counts one sample: "images" → {1, 3, 320, 320}.
  std::map<std::string, std::vector<std::int64_t>> inputs;
};

// A node that has no layer here.
struct Unsupported {
  std::string node;
  std::string op;
  std::string reason;  // "an index that depends on data"
};

struct UnsupportedNodes {
  std::vector<Unsupported> nodes;
  std::int64_t of = 0;  // nodes of the network, constants not counted
};

// Where a parameter of a layer comes from.
struct ParameterSource {
  std::string initializer;  // of the file
  bench::kernels::Graph::Value layer = 0;
  Slot slot{};
  bool transposed = false;  // the layer's plain form is the initializer's transpose
};

struct ImportedInput {
  std::string name;
  std::string shape;    // "batch x 3 x 224 x 224"
  std::string content;  // "seeded values", "tokens below 30522", "ones (an attention mask)"
  // One sample's, where they are made up once for all samples; nullptr: drawn, as samples or as a parameter
  // of that name.
  std::shared_ptr<const Constant> values{};
};

struct ImportedNetwork {
  bench::kernels::Graph graph;
  std::string name;  // file name without folder and ending, and 8 hexadecimal digits of its hash
  std::vector<ImportedInput> inputs;
  std::vector<std::string> assumptions;  // "dropout is off", a sentence each
  std::vector<ParameterSource> parameters;
  std::map<std::string, bench::kernels::Graph::Value> values;  // of the file's tensors that a layer makes
};

// Throws UsageError, one sentence: what read_model() refuses, and what has no layer here, naming node,
// operator and how many of the network's nodes are refused.
ImportedNetwork import_network(const std::string& path, const ImportOptions& options);

// The same of a file that was read; `path` names it in messages.
ImportedNetwork import_model(Model model, const std::string& path, const ImportOptions& options);

// Every node that import_network() would refuse, for `bench inspect`; none where it would import.
UnsupportedNodes unsupported_nodes(const std::string& path, const ImportOptions& options);

}  // namespace bench::kernels::onnx
