#include "kernels/networks/onnx/patterns/ranks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "kernels/networks/onnx/constants/attributes.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::array<std::string_view, 24> kAsTheirInput{"AveragePool", "BatchNormalization",
                                                         "Cast",        "Clip",
                                                         "Concat",      "Conv",
                                                         "Dropout",     "Erf",
                                                         "Gelu",        "Gemm",
                                                         "HardSwish",   "Identity",
                                                         "LeakyRelu",   "MaxPool",
                                                         "Neg",         "Pad",
                                                         "Reciprocal",  "Relu",
                                                         "Sigmoid",     "Slice",
                                                         "Softmax",     "Softplus",
                                                         "Sqrt",        "Tanh"};
// Whose shorter inputs get further dimensions.
constexpr std::array<std::string_view, 8> kAsTheirLongestInput{"Add", "Sub", "Mul", "Div",
                                                               "Pow", "Min", "Max", "MatMul"};

bool is_one_of(std::string_view op, std::span<const std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

}  // namespace

std::optional<std::size_t> result_rank(const GraphIndex& index, GraphIndex::NodeId id) {
  const Node& node = index.node(id);
  const auto first = index.rank(index.input(id, 0));
  if (!node.domain.empty()) {
    return std::nullopt;
  }
  if (is_one_of(node.op, kAsTheirInput) || node.op == "LayerNormalization") {
    return first;
  }
  if (is_one_of(node.op, kAsTheirLongestInput)) {
    std::size_t longest = 0;
    for (std::size_t which = 0; which < node.inputs.size(); ++which) {
      const auto rank = index.rank(index.input(id, which));
      if (!rank || (node.op == "MatMul" && *rank < 2)) {
        return std::nullopt;
      }
      longest = std::max(longest, *rank);
    }
    return longest;
  }
  if (node.op == "ReduceMean") {
    return integer_of(node, "keepdims", 1) != 0 ? first : std::nullopt;
  }
  if (node.op == "Transpose") {
    const auto order = integers_of(node, "perm");
    return order ? std::optional(order->size()) : first;
  }
  if (node.op == "Reshape") {
    const std::size_t sizes = index.integers(index.input(id, 1)).size();
    return sizes > 0 ? std::optional(sizes) : std::nullopt;
  }
  if (node.op == "Gather") {
    const auto indices = index.rank(index.input(id, 1));
    return first && indices && *first > 0 ? std::optional(*first - 1 + *indices) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace bench::kernels::onnx
