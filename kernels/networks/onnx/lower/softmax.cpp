// Softmax and its logarithm.
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {
namespace {

void lower(Lowering& node, bool log) {
  const Shape shape = node.shape(0);
  const bool old = node.all.opset() < 13;
  const std::size_t axis = node.axis(old ? 1 : -1);
  if (shape[axis].per_sample) {
    throw Refused("it compares the samples of a batch");
  }
  bool single = true;  // all dimensions after the axis
  for (std::size_t d = axis + 1; d < shape.rank(); ++d) {
    single &= shape[d] == Extent(1);
  }
  if (old && !single) {
    // Before opset 13, softmax runs over all dimensions from the axis to the last.
    Shape rows;
    for (std::size_t d = 0; d < axis; ++d) {
      rows.append(shape[d]);
    }
    std::int64_t width = 1;
    for (std::size_t d = axis; d < shape.rank(); ++d) {
      if (shape[d].per_sample) {
        throw Refused("it compares the samples of a batch");
      }
      width *= shape[d].size;
    }
    rows.append(width);
    const Layers::Value in = node.all.reshaped(node.elements(0), rows);
    return node.set(node.append({in}, SoftmaxOptions{.dimension = axis, .log = log}), shape);
  }
  // Single-pixel maps over the channels are rows.
  const Layers::Value in = node.layer(0);
  if (axis + 1 == shape.rank() && shape.is_rows() && !shape.is_flat()) {
    return node.set(node.append({in}, SoftmaxOptions{.log = log}));
  }
  node.set(node.append({in}, SoftmaxOptions{.dimension = axis, .log = log}));
}

void lower_softmax(Lowering& node) {
  lower(node, false);
}
void lower_log_softmax(Lowering& node) {
  lower(node, true);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Softmax", lower_softmax},
    {"LogSoftmax", lower_log_softmax},
};

}  // namespace
}  // namespace bench::kernels::onnx
