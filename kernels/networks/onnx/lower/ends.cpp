// Operators that choose among values that depend on data. At the network's end they are left out; elsewhere
// what follows would depend on the choice.
#include <algorithm>

#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {
namespace {

// Whether no node reads any of the results.
bool is_last(const Lowering& node) {
  return std::ranges::all_of(node.node.outputs, [&](const std::string& output) {
    return std::ranges::all_of(node.all.index.readers(output),
                               [](const Node* reader) { return reader == nullptr; });
  });
}

void leave_out(Lowering& node, const std::string& what) {
  if (!is_last(node)) {
    throw Refused("it gives places that depend on data");
  }
  node.all.assume(what + " at the end is not computed.");
  for (std::size_t output = 0; output < node.node.outputs.size(); ++output) {
    node.set(node.in(0), output);
  }
}

// ArgMax over token ids finds the end of a text: its last token.
void lower_arg_max(Lowering& node) {
  const Shape shape = node.shape(0);
  const std::size_t axis = node.axis(0);
  if (!node.all.is_tokens(node.in(0)) || shape[axis].per_sample) {
    return leave_out(node, "The index of the largest value");
  }
  Tokens tokens = *node.all.graph.tokens();
  if (shape[axis].size != tokens.sequence) {
    throw Refused("it looks for the largest token id in a part of a text");
  }
  tokens.largest_is_last = true;
  node.all.draw_tokens(tokens);
  node.all.assume("The largest token id of a text is its last, and drawn so.");
  Extents dims = extents_of(shape);
  dims[axis] = 1;
  if (integer_of(node.node, "keepdims", 1) == 0) {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  node.set(Constant::uniform(ElementType::i64, dims, static_cast<double>(shape[axis].size - 1)));
}

void lower_arg_min(Lowering& node) {
  leave_out(node, "The index of the smallest value");
}

void lower_top_k(Lowering& node) {
  leave_out(node, "The choice of the largest values");
}

const Registration<Lowered> BENCH_REGISTERED{
    {"ArgMax", lower_arg_max},
    {"ArgMin", lower_arg_min},
    {"TopK", lower_top_k},
};

}  // namespace
}  // namespace bench::kernels::onnx
