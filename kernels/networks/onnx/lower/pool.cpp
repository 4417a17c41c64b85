// Pooling over windows, and over whole maps.
#include <limits>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/volumes.h"
#include "kernels/networks/onnx/lower/windows.h"

namespace bench::kernels::onnx {
namespace {

void lower_windows(Lowering& node, bool average) {
  if (is_volume(node)) {
    return lower_volume_pool(node, average);
  }
  const auto kernel = integers_of(node.node, "kernel_shape");
  if (!kernel) {
    throw Refused("it has no kernel_shape");
  }
  const bool round_up = integer_of(node.node, "ceil_mode", 0) != 0;
  const bool count_padding = integer_of(node.node, "count_include_pad", 0) != 0;
  const Windows windows = windows_of(node, *kernel);
  // Zeros around an average count in it; what is around a maximum must be below all.
  std::optional<double> border;
  if (const Value& in = node.in(0); !round_up && in.padded != nullptr) {
    const bool same_count = windows.pad == Padding(0) || count_padding;
    border = !average     ? std::optional(-std::numeric_limits<double>::infinity())
             : same_count ? std::optional(0.0)
                          : std::nullopt;
  }
  Maps in = maps_of(node, windows, border);
  const bool taken = in.windows.pad != windows.pad;
  const Padding& pad = in.windows.pad;
  const Padding widest = pad;
  if (taken && (widest.top >= windows.kernel.h || widest.bottom >= windows.kernel.h ||
                widest.left >= windows.kernel.w || widest.right >= windows.kernel.w)) {
    in = maps_of(node, windows, std::nullopt);
  }
  const PoolOptions options{.kernel = in.windows.kernel,
                            .stride = in.windows.stride,
                            .pad = in.windows.pad,
                            .dilation = in.windows.dilation,
                            .average = average,
                            .count_padding = average && (count_padding || taken),
                            .round_up = round_up};
  const Layers::Value made = node.append({in.layer}, options);
  node.set(made, in.result(node.all.graph[made].shape));
}

void lower_max_pool(Lowering& node) {
  if (node.node.outputs.size() > 1 && !node.all.index.readers(node.node.outputs[1]).empty()) {
    throw Refused("it also gives the places of the maxima");
  }
  lower_windows(node, false);
}
void lower_average_pool(Lowering& node) {
  lower_windows(node, true);
}

// The mean of each map, or of each signal.
void lower_global(Lowering& node, ReduceFunction function) {
  const Shape& shape = node.shape(0);
  if (shape.rank() < 3) {
    throw Refused(fmt::format("it needs maps, not {}", shape.text()));
  }
  if (function == ReduceFunction::mean && shape.is_maps()) {
    const Layers::Value in = node.layer(0);
    const Shape& maps = node.all.graph[in].shape;
    return node.set(
        maps.height() == 1 && maps.width() == 1 ? in : node.append({in}, AveragePoolOptions{.size = 1}));
  }
  ReduceOptions options{.function = function, .dimensions = {}, .keep_dims = true};
  for (std::size_t d = 2; d < shape.rank(); ++d) {
    options.dimensions.push_back(d);
  }
  node.set(node.append({node.layer(0)}, options));
}

void lower_global_average(Lowering& node) {
  lower_global(node, ReduceFunction::mean);
}
void lower_global_maximum(Lowering& node) {
  lower_global(node, ReduceFunction::maximum);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"MaxPool", lower_max_pool},
    {"AveragePool", lower_average_pool},
    {"GlobalAveragePool", lower_global_average},
    {"GlobalMaxPool", lower_global_maximum},
};

}  // namespace
}  // namespace bench::kernels::onnx
