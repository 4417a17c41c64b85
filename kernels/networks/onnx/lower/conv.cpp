// Convolutions, transposed ones too, over maps and over signals of one dimension; plain ones over volumes.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/volumes.h"
#include "kernels/networks/onnx/lower/windows.h"

namespace bench::kernels::onnx {
namespace {

struct Convolution {
  WeightInput weights;
  std::optional<WeightInput> bias;
  Windows windows;
  std::int64_t groups = 1;
};

Convolution convolution(const Lowering& node) {
  Convolution conv{.weights = weights(node, 1, "its weights"), .bias = {}, .windows = {}};
  const Shape& shape = conv.weights.shape;
  if (shape.rank() != node.rank(0)) {
    throw Refused(fmt::format("its weights are {} and its input is {}; both must have as many dimensions",
                              shape.text(), node.shape(0).text()));
  }
  std::vector<std::int64_t> kernel;
  for (std::size_t d = 2; d < shape.rank(); ++d) {
    kernel.push_back(shape[d].size);
  }
  require_kernel(node, kernel, shape);
  conv.windows = windows_of(node, kernel);
  conv.groups = integer_of(node.node, "group", 1);
  if (conv.groups < 1) {
    throw Refused(fmt::format("it has {} groups; 1 or more are accepted", conv.groups));
  }
  elements_of({shape[1].size, conv.groups});  // the channels of all groups can be counted
  if (node.has(2)) {
    conv.bias = weights(node, 2, "its biases");
  }
  return conv;
}

// The layer's name is that of its weights, so that equal names are drawn alike.
void record(Lowering& node, const Convolution& conv, Layers::Value layer) {
  node.all.sources.push_back(
      {.initializer = conv.weights.parameter, .layer = layer, .slot = Slot::weights, .transposed = false});
  if (conv.bias) {
    node.all.sources.push_back({.initializer = conv.bias->parameter, .layer = layer, .slot = Slot::bias});
  }
}

std::string name_of(const Convolution& conv) {
  return layer_name(conv.weights.parameter);
}

// PyTorch's exporter invents a name for weights that it computed itself, and a convolution's weights it
// computes only to fold a norm into them. In PyTorch 1 all other weights keep their module's name
// ("features.3.weight"). The later exporter keeps every name, so that names tell nothing there.
std::optional<bool> holds_norm(const Convolution& conv, std::string_view producer) {
  constexpr std::string_view kMadeUp = "onnx::Conv_";
  const std::string_view name = conv.weights.parameter;
  if (conv.bias && name.starts_with(kMadeUp) && name.size() > kMadeUp.size() &&
      std::ranges::all_of(name.substr(kMadeUp.size()), [](char c) { return c >= '0' && c <= '9'; })) {
    return true;
  }
  return producer.starts_with("pytorch 1.") ? std::optional(false) : std::nullopt;
}

// A product of two maps of which neither is a gate, which is at most 1.
bool multiplies_maps(const Layers& graph, Layers::Value value) {
  const auto* const options = options_of<PointwiseOptions>(graph[value]);
  return options != nullptr && options->function == PointwiseFunction::multiply &&
         std::ranges::all_of(graph[value].inputs, [&](Layers::Value factor) {
           const auto* const of = options_of<ActivationOptions>(graph[factor]);
           const bool gate = of != nullptr && (of->activation.kind == ActivationKind::sigmoid ||
                                               of->activation.kind == ActivationKind::hard_sigmoid ||
                                               of->activation.kind == ActivationKind::tanh);
           return !gate && graph[factor].shape == graph[value].shape;
         });
}

// Such a product grows with the square of what it is made of. Where the file's norms are folded, nothing
// brings it back, and from block to block the values would leave every dtype's range.
constexpr double kGainOfProducts = 1.0 / 32;

void lower_conv(Lowering& node) {
  if (is_volume(node)) {
    return lower_volume_conv(node);
  }
  const Convolution conv = convolution(node);
  const Shape& shape = conv.weights.shape;
  Maps in = maps_of(node, conv.windows, 0.0);
  const std::int64_t channels = shape[0].size;
  if (in.channels != shape[1].size * conv.groups || channels % conv.groups != 0) {
    throw Refused(fmt::format("{} channels do not fit weights of {} in {} groups", in.channels, shape.text(),
                              conv.groups));
  }
  const ConvOptions options{.channels = channels,
                            .kernel = in.windows.kernel,
                            .stride = in.windows.stride,
                            .pad = in.windows.pad,
                            .dilation = in.windows.dilation,
                            .groups = conv.groups,
                            .bias = conv.bias.has_value(),
                            .gain = multiplies_maps(node.all.graph, in.layer) ? kGainOfProducts : 1,
                            .holds_norm = holds_norm(conv, node.all.model.producer)};
  const Layers::Value made = node.all.append(name_of(conv), {in.layer}, options);
  // A norm may be folded into a convolution's weights, so that no other can share them.
  if (!node.all.convolved.insert(conv.weights.parameter).second) {
    node.all.assume_of("The weights {}, which several convolutions share, are stored for each.",
                       conv.weights.parameter);
  }
  record(node, conv, made);
  node.set(made, in.result(node.all.graph[made].shape));
}

void lower_conv_transpose(Lowering& node) {
  const Convolution conv = convolution(node);
  const Shape& shape = conv.weights.shape;
  Maps in = maps_of(node, conv.windows, std::nullopt);
  if (in.channels != shape[0].size) {
    throw Refused(fmt::format("{} channels do not fit weights of {}", in.channels, shape.text()));
  }
  const Windows& w = in.windows;
  const Shape& given_maps = node.all.graph[in.layer].shape;
  elements_of({given_maps.height(), w.stride.h, given_maps.width(), w.stride.w});  // as many as its result's
  const auto given = integers_of(node.node, "output_padding").value_or(std::vector<std::int64_t>{0, 0});
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const auto fits = [](std::int64_t size) { return size >= 0 && size < kMost; };
  if (given.empty() || given.size() > 2 || !std::ranges::all_of(given, fits)) {
    throw Refused("padding of its result of other dimensions, or below 0");
  }
  const PerAxis output_pad = given.size() == 1 ? PerAxis(0, given[0]) : PerAxis(given.at(0), given.at(1));
  Padding pad = w.pad;
  if (const auto sizes = integers_of(node.node, "output_shape")) {
    const auto wanted = [&](std::size_t axis) { return (*sizes)[sizes->size() - 2 + axis]; };
    const Shape& maps = node.all.graph[in.layer].shape;
    if (sizes->size() < 2 || in.signal || !std::ranges::all_of(*sizes, fits)) {
      throw Refused("a size of its result for one dimension, or below 0");
    }
    const auto cut = [&](std::int64_t extent, std::int64_t stride, std::int64_t kernel, std::int64_t dilation,
                         std::int64_t size) {
      return stride * (extent - 1) + dilation * (kernel - 1) + 1 - size;
    };
    const std::int64_t rows =
        cut(maps.height(), w.stride.h, w.kernel.h, w.dilation.h, wanted(0)) + output_pad.h;
    const std::int64_t columns =
        cut(maps.width(), w.stride.w, w.kernel.w, w.dilation.w, wanted(1)) + output_pad.w;
    // The odd one is cut at the start, with SAME_UPPER at the end.
    const bool upper = text_of(node.node, "auto_pad", "NOTSET") == "SAME_UPPER";
    const std::int64_t top = upper ? rows / 2 : rows - rows / 2;
    const std::int64_t left = upper ? columns / 2 : columns - columns / 2;
    pad = Padding(top, left, rows - top, columns - left);
  }
  const ConvTransposeOptions options{.channels = shape[1].size * conv.groups,
                                     .kernel = w.kernel,
                                     .stride = w.stride,
                                     .pad = pad,
                                     .output_pad = output_pad,
                                     .dilation = w.dilation,
                                     .groups = conv.groups,
                                     .bias = conv.bias.has_value()};
  const Layers::Value made = node.all.append(name_of(conv), {in.layer}, options);
  record(node, conv, made);
  node.set(made, in.result(node.all.graph[made].shape));
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Conv", lower_conv},
    {"ConvTranspose", lower_conv_transpose},
};

}  // namespace
}  // namespace bench::kernels::onnx
