#include "kernels/networks/onnx/lower/volumes.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/windows.h"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::size_t kAxes = 3;
using Sizes = std::vector<std::int64_t>;  // of each axis

struct VolumeWindows {
  Sizes kernel, stride, dilation;
  Sizes pad;  // before each axis, then after each
};

VolumeWindows windows_over_volumes(const Lowering& node, const Sizes& kernel) {
  require_sizes(kernel);
  const std::string automatic = text_of(node.node, "auto_pad", "NOTSET");
  if (automatic.starts_with("SAME")) {
    throw Refused(
        fmt::format("its auto_pad is {}; over three dimensions NOTSET and VALID are accepted", automatic));
  }
  return {.kernel = kernel,
          .stride = sizes_of(node, "strides", kAxes),
          .dilation = sizes_of(node, "dilations", kAxes),
          .pad = pads_of(node, kAxes)};
}

// The padding of the rows and columns.
Padding padding_of_planes(const VolumeWindows& windows) {
  return {windows.pad[1], windows.pad[2], windows.pad[kAxes + 1], windows.pad[kAxes + 2]};
}

const Shape& volume(const Lowering& node) {
  const Shape& shape = node.shape(0);
  if (!shape[0].per_sample) {
    throw Refused(fmt::format("it needs volumes whose first dimension is the batch, not {}", shape.text()));
  }
  return shape;
}

// The frames of each window, copied side by side: batch x channels x windows x kernel x rows x columns.
// `count` becomes the number of windows.
Layers::Value frames_of_windows(Lowering& node, const VolumeWindows& windows, std::int64_t& count) {
  const Shape shape = volume(node);
  Layers::Value frames = node.layer(0);
  std::int64_t depth = shape[2].size;
  if (windows.pad[0] > 0 || windows.pad[kAxes] > 0) {
    depth += windows.pad[0] + windows.pad[kAxes];
    frames = node.append({frames}, PadOptions{.before = {0, 0, windows.pad[0], 0, 0},
                                              .behind = {0, 0, windows.pad[kAxes], 0, 0}});
  }
  const std::int64_t covered = windows.dilation[0] * (windows.kernel[0] - 1) + 1;
  if (depth < covered) {
    throw Refused(fmt::format("a window over {} frames does not fit {}", covered, depth));
  }
  count = (depth - covered) / windows.stride[0] + 1;
  const Shape result{shape[0], shape[1], count, windows.kernel[0], shape[3], shape[4]};
  if (windows.kernel[0] == 1 && windows.stride[0] == 1) {
    return node.all.reshaped(frames, result);
  }
  node.all.budget.take(elements_of({count, windows.kernel[0]}));
  GatherOptions options{.dimension = 2, .indices = {}};
  for (std::int64_t window = 0; window < count; ++window) {
    for (std::int64_t k = 0; k < windows.kernel[0]; ++k) {
      options.indices.push_back(
          static_cast<std::int32_t>(window * windows.stride[0] + k * windows.dilation[0]));
    }
  }
  if (windows.kernel[0] > 1) {
    node.all.assume("Of convolutions over three dimensions the frames of a window are copied side by side.");
  }
  return node.all.reshaped(node.append({frames}, options), result);
}

}  // namespace

bool is_volume(const Lowering& node) {
  return node.has(0) && node.rank(0) == kAxes + 2;
}

void lower_volume_conv(Lowering& node) {
  const WeightInput filters = weights(node, 1, "its weights");
  if (filters.shape.rank() != kAxes + 2) {
    throw Refused(fmt::format("its weights are {} and its input is {}; both must have as many dimensions",
                              filters.shape.text(), node.shape(0).text()));
  }
  Sizes kernel;
  for (std::size_t d = 0; d < kAxes; ++d) {
    kernel.push_back(filters.shape[d + 2].size);
  }
  require_kernel(node, kernel, filters.shape);
  const VolumeWindows windows = windows_over_volumes(node, kernel);
  const std::int64_t groups = integer_of(node.node, "group", 1);
  const std::int64_t channels = filters.shape[0].size;
  const Shape shape = volume(node);
  if (groups < 1 || channels % groups != 0 || shape[1].size / groups != filters.shape[1].size ||
      shape[1].size % groups != 0) {
    throw Refused(fmt::format("{} channels do not fit weights of {} in {} groups", shape[1].size,
                              filters.shape.text(), groups));
  }
  std::int64_t count = 0;
  const Layers::Value apart = frames_of_windows(node, windows, count);
  const Layers::Value turned = node.append({apart}, TransposeOptions{.order = {0, 2, 1, 3, 4, 5}});
  const Layers::Value maps =
      node.all.reshaped(turned, {Extent(elements_of({shape[0].size, count}), true),
                                 elements_of({shape[1].size, kernel[0]}), shape[3].size, shape[4].size});
  const bool biased = node.has(2);
  const ConvOptions options{.channels = channels,
                            .kernel = {kernel[1], kernel[2]},
                            .stride = {windows.stride[1], windows.stride[2]},
                            .pad = padding_of_planes(windows),
                            .dilation = {windows.dilation[1], windows.dilation[2]},
                            .groups = groups,
                            .bias = biased};
  const Layers::Value made = node.all.append(layer_name(filters.parameter), {maps}, options);
  node.all.sources.push_back({.initializer = filters.parameter, .layer = made, .slot = Slot::weights});
  if (biased) {
    node.all.sources.push_back(
        {.initializer = weights(node, 2, "its biases").parameter, .layer = made, .slot = Slot::bias});
  }
  const Shape planes = node.all.graph[made].shape;
  const Layers::Value by_frames =
      node.all.reshaped(made, {shape[0], count, channels, planes.height(), planes.width()});
  node.set(node.append({by_frames}, TransposeOptions{.order = {0, 2, 1, 3, 4}}));
}

void lower_volume_pool(Lowering& node, bool average) {
  if (node.node.find("kernel_shape") == nullptr) {
    throw Refused("it has no kernel_shape");
  }
  const VolumeWindows windows = windows_over_volumes(node, sizes_of(node, "kernel_shape", kAxes));
  const Shape shape = volume(node);
  PoolOptions options{.kernel = {windows.kernel[1], windows.kernel[2]},
                      .stride = {windows.stride[1], windows.stride[2]},
                      .pad = padding_of_planes(windows),
                      .dilation = {windows.dilation[1], windows.dilation[2]},
                      .average = average,
                      .count_padding = average && integer_of(node.node, "count_include_pad", 0) != 0,
                      .round_up = integer_of(node.node, "ceil_mode", 0) != 0};
  const Layers::Value planes = node.append(
      {node.all.reshaped(node.elements(0),
                         {shape[0], elements_of({shape[1].size, shape[2].size}), shape[3], shape[4]})},
      options);
  const Shape small = node.all.graph[planes].shape;
  options.kernel = {windows.kernel[0], 1};
  options.stride = {windows.stride[0], 1};
  options.pad = {windows.pad[0], 0, windows.pad[kAxes], 0};
  options.dilation = {windows.dilation[0], 1};
  const Layers::Value columns =
      node.all.reshaped(planes, {shape[0], shape[1], shape[2], small.height() * small.width()});
  const Layers::Value made = node.append({columns}, options);
  node.set(made, {shape[0], shape[1], node.all.graph[made].shape.height(), small.height(), small.width()});
}

}  // namespace bench::kernels::onnx
