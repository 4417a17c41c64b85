// MobileNetV2 at width 1.0, Sandler et al. 2018 (arXiv:1801.04381), layer for layer as torchvision names
// them.
#include <array>

#include <fmt/format.h>

#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// A bottleneck ends without an activation, so nothing halves its output's energy: drawn around √½ its batch
// norm keeps the next layer's input where a ReLU would have left it. Branches that are summed are drawn
// smaller.
constexpr double kLinearGain = 0.7;
constexpr double kResidualGain = 0.5;

Value conv_norm_relu6(Graph& g, const std::string& name, Value x, const ConvOptions& options) {
  return g.relu6(name + ".2", g.batch_norm(name + ".1", g.conv2d(name + ".0", x, options)));
}

struct Bottleneck {
  std::int64_t expand;  // channels inside over channels in
  std::int64_t channels;
  std::int64_t stride;
};

Value inverted_residual(Graph& g, const std::string& name, Value input, const Bottleneck& block) {
  const std::int64_t hidden = block.expand * g[input].shape.channels();
  const bool residual = block.stride == 1 && g[input].shape.channels() == block.channels;
  int part = 0;
  const auto next = [&] { return fmt::format("{}.conv.{}", name, part++); };
  Value x = input;
  if (block.expand != 1) {
    x = conv_norm_relu6(g, next(), x, {.channels = hidden});
  }
  x = conv_norm_relu6(g, next(), x,
                      {.channels = hidden, .kernel = 3, .stride = block.stride, .pad = 1, .groups = hidden});
  x = g.conv2d(next(), x, {.channels = block.channels});
  x = g.batch_norm(next(), x, residual ? kResidualGain : kLinearGain);
  return residual ? g.add(name + ".add", x, input) : x;
}

Graph mobilenet_v2(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  Value x = conv_norm_relu6(g, "features.0", g.image(), {.channels = 32, .kernel = 3, .stride = 2, .pad = 1});

  struct Stage {  // the paper's table 2: t, c, n, s
    std::int64_t expand, channels;
    int repeats;
    std::int64_t stride;
  };
  constexpr std::array<Stage, 7> stages{{{1, 16, 1, 1},
                                         {6, 24, 2, 2},
                                         {6, 32, 3, 2},
                                         {6, 64, 4, 2},
                                         {6, 96, 3, 1},
                                         {6, 160, 3, 2},
                                         {6, 320, 1, 1}}};
  int index = 1;
  for (const Stage& stage : stages) {
    for (int i = 0; i < stage.repeats; ++i) {
      const Bottleneck block{stage.expand, stage.channels, i == 0 ? stage.stride : 1};
      x = inverted_residual(g, fmt::format("features.{}", index++), x, block);
    }
  }

  x = conv_norm_relu6(g, "features.18", x, {.channels = 1280});
  x = g.flatten("flatten", g.average_pool("avgpool", x));
  g.linear("classifier.1", x, 1000);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "mobilenet_v2",
    .description = "MobileNetV2 1.0, 3.5 M parameters, 0.30 GMAC at 224 (torchvision)",
    .build = mobilenet_v2,
    .published_parameters = 3'504'872,
    .published_macs = 0.30e9,
}};

}  // namespace
}  // namespace bench::kernels
