// ConvNeXt-T, Liu et al. 2022 (arXiv:2201.03545), layer for layer as torchvision names them. A block's norm
// and products run over channels, so that its maps are transposed to rows of channels and back. Its
// stochastic depth is left out.
#include <array>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr LayerNormOptions kConvNextNorm{.epsilon = 1e-6F};

// Maps as rows of channels, one for each pixel.
Value rows_of_pixels(Graph& g, const std::string& name, Value x) {
  const Shape shape = g[x].shape;
  x = g.append(name + ".pixels", {x},
               ReshapeOptions{{kBatch, shape.channels(), shape.height() * shape.width()}});
  return g.append(name + ".rows", {x}, TransposeOptions{{0, 2, 1}});
}

// And back, for maps of such a height and width.
Value maps_of_rows(Graph& g, const std::string& name, Value x, const Shape& like) {
  x = g.append(name + ".columns", {x}, TransposeOptions{{0, 2, 1}});
  return g.append(name + ".maps", {x},
                  ReshapeOptions{Shape::maps(g[x].shape[1].size, like.height(), like.width())});
}

Value norm_of_channels(Graph& g, const std::string& name, Value x) {
  const Shape shape = g[x].shape;
  return maps_of_rows(g, name, g.layer_norm(name, rows_of_pixels(g, name, x), kConvNextNorm), shape);
}

Value convnext_block(Graph& g, const std::string& name, Value input) {
  const Shape shape = g[input].shape;
  const std::int64_t width = shape.channels();
  Value x = g.conv2d(name + ".block.0", input,
                     {.channels = width, .kernel = 7, .pad = 3, .groups = width, .bias = true});
  x = rows_of_pixels(g, name + ".block.1", x);
  x = g.layer_norm(name + ".block.2", x, kConvNextNorm);
  x = g.linear(name + ".block.3", x, 4 * width);
  x = g.activation(name + ".block.4", x, Activation::gelu_erf);
  x = g.linear(name + ".block.5", x, width);
  // torchvision starts at 1e-6; drawn larger here, so that a block's answer counts.
  const Value scale =
      g.append(name + ".layer_scale", {},
               ParameterOptions{.shape = {width}, .values = {}, .start = {.centre = 0.2, .spread = 0.1}});
  x = g.append(name + ".scaled", {x, scale}, PointwiseOptions{PointwiseFunction::multiply});
  return g.add(name + ".add", maps_of_rows(g, name + ".block.6", x, shape), input);
}

Graph convnext_tiny(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  constexpr std::array<int, 4> depths{3, 3, 9, 3};
  Value x = g.conv2d("features.0.0", g.image(), {.channels = 96, .kernel = 4, .stride = 4, .bias = true});
  x = norm_of_channels(g, "features.0.1", x);
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    if (stage > 0) {
      const std::string name = fmt::format("features.{}", 2 * stage);
      x = norm_of_channels(g, name + ".0", x);
      x = g.conv2d(name + ".1", x,
                   {.channels = std::int64_t{96} << stage, .kernel = 2, .stride = 2, .bias = true});
    }
    for (int i = 0; i < depths.at(stage); ++i) {
      x = convnext_block(g, fmt::format("features.{}.{}", 2 * stage + 1, i), x);
    }
  }
  x = g.flatten("flatten", g.average_pool("avgpool", x));
  g.linear("classifier.2", g.layer_norm("classifier.0", x, kConvNextNorm), 1000);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "convnext_tiny",
    .description = "ConvNeXt-T, 28.6 M parameters, 4.46 GMAC at 224 (torchvision)",
    .build = convnext_tiny,
    .published_parameters = 28'589'128,
    .published_macs = 4.456e9,
}};

}  // namespace
}  // namespace bench::kernels
