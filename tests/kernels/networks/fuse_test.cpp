#include "kernels/networks/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/registry.h"
#include "kernels/networks/network.h"

namespace bench::kernels {
namespace {

std::int64_t count(const Graph& graph, LayerKind kind) {
  return std::ranges::count(graph.layers(), kind, &Layer::kind);
}

const Layer& layer(const Graph& graph, const std::string& name) {
  const auto at = std::ranges::find(graph.layers(), name, &Layer::name);
  if (at == graph.layers().end()) {
    throw std::out_of_range(name);
  }
  return *at;
}

TEST(Fuse, FoldsNormSumAndActivationIntoOneConvolution) {
  Graph g({8, 6, 6});
  const auto a = g.relu(
      "relu_a", g.batch_norm("bn_a", g.conv2d("a", g.image(), {.channels = 8, .kernel = 3, .pad = 1})));
  const auto b = g.batch_norm("bn_b", g.conv2d("b", a, {.channels = 8}), 0.5);
  g.relu("relu", g.add("sum", b, a));

  const Graph fused = fuse_for_inference(g);
  ASSERT_EQ(fused.layers().size(), 3U);
  EXPECT_EQ(fused[1].activation, Activation::relu);
  const Layer& last = fused[2];
  EXPECT_EQ(last.inputs, (std::vector<std::size_t>{1, 1}));
  EXPECT_TRUE(last.residual);
  EXPECT_TRUE(last.bias);
  EXPECT_EQ(last.activation, Activation::relu);
  ASSERT_TRUE(last.norm.has_value());
  EXPECT_EQ(last.norm->name, "bn_b");
  EXPECT_EQ(last.norm->gain, 0.5);
  EXPECT_EQ(fused.parameter_count(), g.parameter_count());
  EXPECT_EQ(fused.macs(), g.macs());
}

TEST(Fuse, LeavesAloneWhatOthersRead) {
  Graph g({8, 6, 6});
  const auto conv = g.conv2d("conv", g.image(), {.channels = 8});
  const auto norm = g.batch_norm("bn", conv);
  g.add("sum", norm, conv);  // reads the convolution's own result as well
  const Graph fused = fuse_for_inference(g);
  EXPECT_EQ(count(fused, LayerKind::batch_norm), 1);
  EXPECT_EQ(count(fused, LayerKind::add), 1);
  EXPECT_FALSE(layer(fused, "conv").norm.has_value());
}

TEST(Fuse, OnlyTheLaterOperandTakesTheSum) {
  Graph g({8, 6, 6});
  const auto conv = g.conv2d("conv", g.image(), {.channels = 8});
  const auto pooled = g.max_pool("pool", g.image(), {.kernel = 3, .stride = 1, .pad = 1});
  g.relu("relu", g.add("sum", conv, pooled));  // the convolution runs before the pool
  const Graph fused = fuse_for_inference(g);
  EXPECT_FALSE(layer(fused, "conv").residual);
  EXPECT_EQ(layer(fused, "sum").activation, Activation::relu);
  EXPECT_EQ(count(fused, LayerKind::activation), 0);
}

TEST(Fuse, ActivationBeforeTheSumStaysBeforeIt) {
  Graph g({8, 6, 6});
  const auto a = g.relu6("relu6", g.conv2d("conv", g.image(), {.channels = 8}));
  g.add("sum", a, g.image());
  const Graph fused = fuse_for_inference(g);
  EXPECT_EQ(layer(fused, "conv").activation, Activation::relu6);
  EXPECT_FALSE(layer(fused, "conv").residual);
  EXPECT_EQ(count(fused, LayerKind::add), 1);
}

TEST(Fuse, SecondNormAndSecondActivationStay) {
  Graph g({8, 6, 6});
  auto x = g.batch_norm("bn1", g.conv2d("conv", g.image(), {.channels = 8}));
  x = g.relu6("relu6", g.relu("relu", g.batch_norm("bn2", x)));
  const Graph fused = fuse_for_inference(g);
  EXPECT_EQ(layer(fused, "conv").norm->name, "bn1");
  EXPECT_EQ(count(fused, LayerKind::batch_norm), 1);
  EXPECT_EQ(count(fused, LayerKind::activation), 2);
}

TEST(Fuse, Networks) {
  struct Expected {
    const char* name;
    std::int64_t convolutions, residuals, layers;
  };
  // Layers: the image, convolutions, max pools, average pool (not in VGG at 224), flatten, linear layers.
  for (const Expected& e : {Expected{"resnet18", 20, 8, 1 + 20 + 1 + 1 + 1 + 1},
                            {"resnet50", 53, 16, 1 + 53 + 1 + 1 + 1 + 1},
                            {"vgg16", 13, 0, 1 + 13 + 5 + 1 + 3},
                            {"mobilenet_v2", 52, 10, 1 + 52 + 1 + 1 + 1}}) {
    SCOPED_TRACE(e.name);
    const Graph graph = registry<NetworkType>().find(e.name)->build(224);
    const Graph fused = fuse_for_inference(graph);
    EXPECT_EQ(count(fused, LayerKind::conv2d), e.convolutions);
    EXPECT_EQ(std::ranges::count(fused.layers(), true, &Layer::residual), e.residuals);
    EXPECT_EQ(static_cast<std::int64_t>(fused.layers().size()), e.layers);
    EXPECT_EQ(count(fused, LayerKind::batch_norm), 0);
    EXPECT_EQ(count(fused, LayerKind::activation), 0);
    EXPECT_EQ(fused.parameter_count(), graph.parameter_count());
    EXPECT_EQ(fused.macs(), graph.macs());
  }
}

}  // namespace
}  // namespace bench::kernels
