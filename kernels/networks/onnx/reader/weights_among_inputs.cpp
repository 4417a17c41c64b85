#include "kernels/networks/onnx/reader/weights_among_inputs.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::kernels::onnx {
namespace {

// The input of an operator that holds its filters, its matrix or its table.
const std::map<std::string, std::size_t> kFilters{{"Conv", 1}, {"ConvTranspose", 1}};
const std::map<std::string, std::size_t> kMatrices{{"Gemm", 1}, {"MatMul", 1}, {"Gather", 0}};
const std::set<std::string> kPasses{"Identity", "Cast", "Transpose"};

// The names that nodes read as such, also through nodes that only pass a value on.
std::set<std::string> read_as(const std::map<std::string, std::size_t>& input_of, const Graph& graph) {
  std::map<std::string, std::string> passed;  // from, by to
  std::set<std::string> read;
  for (const Node& node : graph.nodes) {
    if (kPasses.contains(node.op) && !node.inputs.empty() && !node.outputs.empty()) {
      passed.emplace(node.outputs[0], node.inputs[0]);
    }
    const auto at = input_of.find(node.op);
    if (at != input_of.end() && at->second < node.inputs.size()) {
      read.insert(node.inputs[at->second]);
    }
  }
  std::set<std::string> all = read;
  for (const std::string& name : read) {
    for (auto from = passed.find(name); from != passed.end() && all.insert(from->second).second;) {
      from = passed.find(from->second);
    }
  }
  return all;
}

// The sizes, where they are fixed and together those of a tensor that may be one.
std::optional<std::vector<std::int64_t>> fixed_sizes(const ValueInfo& input) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 36;
  if (!input.dims) {
    return std::nullopt;
  }
  std::vector<std::int64_t> sizes;
  std::int64_t elements = 1;
  for (const Dimension& dim : *input.dims) {
    const std::int64_t size = dim.size.value_or(0);
    if (size < 1 || elements > kMostElements / size) {
      return std::nullopt;
    }
    elements *= size;
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

bool is_mask(std::string input) {
  std::ranges::transform(input, input.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return input.find("mask") != std::string::npos && input.find("token") == std::string::npos;
}

void take_weights(Model& model) {
  Graph& graph = model.graph;
  if (graph.inputs.size() < 2) {
    return;
  }
  const std::set<std::string> filters = read_as(kFilters, graph);
  const std::set<std::string> matrices = read_as(kMatrices, graph);
  const auto may_be = [&](const ValueInfo& input) {
    return &input != graph.inputs.data() && is_float(input.type) && fixed_sizes(input) &&
           !is_mask(input.name);
  };
  const auto first = std::ranges::find_if(graph.inputs, [&](const ValueInfo& input) {
    return may_be(input) &&
           (filters.contains(input.name) || (input.dims->size() == 2 && matrices.contains(input.name)));
  });
  if (first == graph.inputs.end()) {
    return;
  }
  std::vector<ValueInfo> left;
  for (const ValueInfo& input : graph.inputs) {
    const bool before = &input < &*first && input.dims && graph.inputs.front().dims &&
                        input.dims->size() == graph.inputs.front().dims->size();
    if (before || !may_be(input)) {
      left.push_back(input);
      continue;
    }
    Tensor tensor;
    tensor.name = input.name;
    tensor.type = input.type;
    tensor.dims = *fixed_sizes(input);
    tensor.external = true;
    graph.initializers.push_back(std::move(tensor));
    model.weight_inputs.push_back(input.name);
  }
  graph.inputs = std::move(left);
}

}  // namespace bench::kernels::onnx
