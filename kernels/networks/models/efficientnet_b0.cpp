// EfficientNet-B0, Tan and Le 2019 (arXiv:1905.11946), layer for layer as torchvision names them. Its
// stochastic depth and dropout are left out.
#include <array>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// As in MobileNetV2, a bottleneck ends without an activation, and branches that are summed are drawn smaller;
// twice as large as there, since a factor around ½ comes before.
constexpr double kProjectionGain = 1.4;
constexpr double kSummedGain = 1;

Value conv_norm_silu(Graph& g, const std::string& name, Value x, const ConvOptions& options) {
  return g.activation(name + ".2", g.batch_norm(name + ".1", g.conv2d(name + ".0", x, options)),
                      Activation::silu);
}

// Each channel times a factor that its mean over the map decides (Hu et al. 2017, arXiv:1709.01507).
Value squeeze_and_excite(Graph& g, const std::string& name, Value x, std::int64_t squeezed) {
  Value y = g.average_pool(name + ".avgpool", x);
  y = g.activation(name + ".activation", g.conv2d(name + ".fc1", y, {.channels = squeezed, .bias = true}),
                   Activation::silu);
  y = g.conv2d(name + ".fc2", y, {.channels = g[x].shape.channels(), .bias = true});
  y = g.activation(name + ".scale_activation", y, Activation::sigmoid);
  return g.append(name + ".scale", {x, y}, PointwiseOptions{PointwiseFunction::multiply});
}

struct MobileBottleneck {
  std::int64_t expand;  // channels inside over channels in
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t channels;
};

Value mobile_bottleneck(Graph& g, const std::string& name, Value input, const MobileBottleneck& block) {
  const std::int64_t width = g[input].shape.channels();
  const std::int64_t hidden = block.expand * width;
  const bool residual = block.stride == 1 && width == block.channels;
  int part = 0;
  const auto next = [&] { return fmt::format("{}.block.{}", name, part++); };
  Value x = input;
  if (block.expand != 1) {
    x = conv_norm_silu(g, next(), x, {.channels = hidden});
  }
  x = conv_norm_silu(g, next(), x,
                     {.channels = hidden,
                      .kernel = block.kernel,
                      .stride = block.stride,
                      .pad = block.kernel / 2,
                      .groups = hidden});
  x = squeeze_and_excite(g, next(), x, width / 4);
  const std::string last = next();
  x = g.conv2d(last + ".0", x, {.channels = block.channels});
  x = g.batch_norm(last + ".1", x, residual ? kSummedGain : kProjectionGain);
  return residual ? g.add(name + ".add", x, input) : x;
}

Graph efficientnet_b0(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  Value x = conv_norm_silu(g, "features.0", g.image(), {.channels = 32, .kernel = 3, .stride = 2, .pad = 1});

  struct Stage {  // the paper's table 1
    MobileBottleneck first;
    int repeats;
  };
  constexpr std::array<Stage, 7> stages{{{{1, 3, 1, 16}, 1},
                                         {{6, 3, 2, 24}, 2},
                                         {{6, 5, 2, 40}, 2},
                                         {{6, 3, 2, 80}, 3},
                                         {{6, 5, 1, 112}, 3},
                                         {{6, 5, 2, 192}, 4},
                                         {{6, 3, 1, 320}, 1}}};
  int index = 1;
  for (const Stage& stage : stages) {
    for (int i = 0; i < stage.repeats; ++i) {
      MobileBottleneck block = stage.first;
      block.stride = i == 0 ? block.stride : 1;
      x = mobile_bottleneck(g, fmt::format("features.{}.{}", index, i), x, block);
    }
    ++index;
  }

  x = conv_norm_silu(g, "features.8", x, {.channels = 1280});
  x = g.flatten("flatten", g.average_pool("avgpool", x));
  g.linear("classifier.1", x, 1000);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "efficientnet_b0",
    .description = "EfficientNet-B0, 5.3 M parameters, 0.39 GMAC at 224 (torchvision)",
    .build = efficientnet_b0,
    .published_parameters = 5'288'548,
    .published_macs = 0.386e9,
}};

}  // namespace
}  // namespace bench::kernels
