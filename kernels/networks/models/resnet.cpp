// ResNets of 18 to 152 layers, He et al. 2015 (arXiv:1512.03385), layer for layer as torchvision names them.
// From 50 layers on they are v1.5: a bottleneck's stride is in its 3×3 convolution.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// The last batch norm of a residual branch is drawn around this scale, so that the sum over many blocks
// neither grows without bound nor drowns the branch; smaller where there are more than 16.
double branch_gain(const std::array<int, 4>& depths) {
  constexpr double kMost = 0.5;
  constexpr double kBlocks = 16;
  return kMost * std::sqrt(std::min(1.0, kBlocks / std::accumulate(depths.begin(), depths.end(), 0)));
}

struct Block {
  std::string name;
  std::int64_t width;  // channels inside the block
  std::int64_t stride;
  double gain;
};

Value shortcut(Graph& g, const Block& block, Value x, std::int64_t channels) {
  if (block.stride == 1 && g[x].shape.channels() == channels) {
    return x;
  }
  x = g.conv2d(block.name + ".downsample.0", x, {.channels = channels, .kernel = 1, .stride = block.stride});
  return g.batch_norm(block.name + ".downsample.1", x);
}

Value basic_block(Graph& g, const Block& block, Value x) {
  Value y = g.conv2d(block.name + ".conv1", x,
                     {.channels = block.width, .kernel = 3, .stride = block.stride, .pad = 1});
  y = g.relu(block.name + ".relu1", g.batch_norm(block.name + ".bn1", y));
  y = g.conv2d(block.name + ".conv2", y, {.channels = block.width, .kernel = 3, .pad = 1});
  y = g.batch_norm(block.name + ".bn2", y, block.gain);
  return g.relu(block.name + ".relu", g.add(block.name + ".add", y, shortcut(g, block, x, block.width)));
}

Value bottleneck(Graph& g, const Block& block, Value x) {
  const std::int64_t wide = 4 * block.width;
  Value y = g.conv2d(block.name + ".conv1", x, {.channels = block.width, .kernel = 1});
  y = g.relu(block.name + ".relu1", g.batch_norm(block.name + ".bn1", y));
  y = g.conv2d(block.name + ".conv2", y,
               {.channels = block.width, .kernel = 3, .stride = block.stride, .pad = 1});
  y = g.relu(block.name + ".relu2", g.batch_norm(block.name + ".bn2", y));
  y = g.conv2d(block.name + ".conv3", y, {.channels = wide, .kernel = 1});
  y = g.batch_norm(block.name + ".bn3", y, block.gain);
  return g.relu(block.name + ".relu", g.add(block.name + ".add", y, shortcut(g, block, x, wide)));
}

using BlockBuilder = Value (*)(Graph&, const Block&, Value);

Graph resnet(std::int64_t image_size, const std::array<int, 4>& depths, BlockBuilder block) {
  Graph g({3, image_size, image_size});
  Value x = g.conv2d("conv1", g.image(), {.channels = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = g.relu("relu", g.batch_norm("bn1", x));
  x = g.max_pool("maxpool", x, {.kernel = 3, .stride = 2, .pad = 1});
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < depths[stage]; ++i) {
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = block(
          g,
          {fmt::format("layer{}.{}", stage + 1, i), std::int64_t{64} << stage, stride, branch_gain(depths)},
          x);
    }
  }
  x = g.flatten("flatten", g.average_pool("avgpool", x));
  g.linear("fc", x, 1000);
  return g;
}

const NetworkRegistration resnet18{{
    .name = "resnet18",
    .description = "ResNet-18, 11.7 M parameters, 1.81 GMAC at 224 (torchvision)",
    .build =
        [](std::int64_t size) {
          return resnet(size, {2, 2, 2, 2}, basic_block);
        },
    .published_parameters = 11'689'512,
    .published_macs = 1.81e9,
}};

const NetworkRegistration resnet34{{
    .name = "resnet34",
    .description = "ResNet-34, 21.8 M parameters, 3.66 GMAC at 224 (torchvision)",
    .build =
        [](std::int64_t size) {
          return resnet(size, {3, 4, 6, 3}, basic_block);
        },
    .published_parameters = 21'797'672,
    .published_macs = 3.66e9,
}};

const NetworkRegistration resnet50{{
    .name = "resnet50",
    .description = "ResNet-50 v1.5, 25.6 M parameters, 4.09 GMAC at 224 (torchvision)",
    .build =
        [](std::int64_t size) {
          return resnet(size, {3, 4, 6, 3}, bottleneck);
        },
    .published_parameters = 25'557'032,
    .published_macs = 4.09e9,
}};

const NetworkRegistration resnet101{{
    .name = "resnet101",
    .description = "ResNet-101 v1.5, 44.5 M parameters, 7.80 GMAC at 224 (torchvision)",
    .build =
        [](std::int64_t size) {
          return resnet(size, {3, 4, 23, 3}, bottleneck);
        },
    .published_parameters = 44'549'160,
    .published_macs = 7.80e9,
}};

const NetworkRegistration resnet152{{
    .name = "resnet152",
    .description = "ResNet-152 v1.5, 60.2 M parameters, 11.5 GMAC at 224 (torchvision)",
    .build =
        [](std::int64_t size) {
          return resnet(size, {3, 8, 36, 3}, bottleneck);
        },
    .published_parameters = 60'192'808,
    .published_macs = 11.51e9,
}};

}  // namespace
}  // namespace bench::kernels
