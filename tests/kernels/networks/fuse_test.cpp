#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/program/input.h"
#include "kernels/workloads/network/reference.h"
#include "networks_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "bench/registry.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

std::int64_t count(const Graph& graph, std::string_view kind) {
  return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.is(kind); });
}

const Node& node(const Graph& graph, std::string_view name) {
  const auto at = std::ranges::find(graph.nodes(), name, &Node::name);
  if (at == graph.nodes().end()) {
    throw std::out_of_range(std::string(name));
  }
  return *at;
}

class Fuse : public NetworkTest {
 protected:
  // Two graphs with the same input give the same answers by the reference implementation.
  static void expect_same_answers(const Graph& graph, const Graph& other) {
    const std::vector<Sample> samples{seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1)};
    const auto expected = reference_outputs(graph, samples, 1);
    const auto answers = reference_outputs(other, samples, 1);
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
      EXPECT_LT(relative_error(answers[sample], expected[sample]), 1e-5);
    }
  }
};

TEST_F(Fuse, FoldsNormSumAndActivationIntoOneConvolution) {
  Graph g({8, 6, 6});
  const auto a = g.relu(
      "relu_a", g.batch_norm("bn_a", g.conv2d("a", g.image(), {.channels = 8, .kernel = 3, .pad = 1})));
  const auto b = g.batch_norm("bn_b", g.conv2d("b", a, {.channels = 8}), 0.5);
  g.relu("relu", g.add("sum", b, a));

  const Graph fused = fuse_for_inference(g);
  ASSERT_EQ(fused.nodes().size(), 3U);
  EXPECT_EQ(fused[2].inputs, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(count(fused, "conv2d"), 2);
  EXPECT_EQ(fused[1].inputs, (std::vector<std::size_t>{0}));
  expect_same_answers(g, fused);
  EXPECT_EQ(fused.parameter_count(), g.parameter_count());
  EXPECT_EQ(fused.macs(), g.macs());
}

TEST_F(Fuse, LeavesAloneWhatOthersRead) {
  Graph g({8, 6, 6});
  const auto conv = g.conv2d("conv", g.image(), {.channels = 8});
  const auto norm = g.batch_norm("bn", conv);
  g.add("sum", norm, conv);  // reads the convolution's own result as well
  const Graph fused = fuse_for_inference(g);
  EXPECT_EQ(count(fused, "batch_norm"), 1);
  EXPECT_EQ(count(fused, "add"), 1);
  EXPECT_EQ(plain_parameter(fused, 1, Slot::weights, 1), plain_parameter(g, 1, Slot::weights, 1));
}

TEST_F(Fuse, OnlyTheLaterOperandTakesTheSum) {
  Graph g({8, 6, 6});
  const auto conv = g.conv2d("conv", g.image(), {.channels = 8});
  const auto pooled = g.max_pool("pool", g.image(), {.kernel = 3, .stride = 1, .pad = 1});
  g.relu("relu", g.add("sum", conv, pooled));  // the convolution runs before the pool
  const Graph fused = fuse_for_inference(g);
  EXPECT_EQ(node(fused, "conv").inputs.size(), 1U);
  EXPECT_EQ(count(fused, "add"), 1);
  EXPECT_EQ(count(fused, "activation"), 0);
  expect_same_answers(g, fused);
}

TEST_F(Fuse, ActivationBeforeTheSumStaysBeforeIt) {
  Graph g({8, 6, 6});
  const auto a = g.relu6("relu6", g.conv2d("conv", g.image(), {.channels = 8}));
  g.add("sum", a, g.image());
  const Graph fused = fuse_for_inference(g);
  EXPECT_EQ(count(fused, "activation"), 0);
  expect_same_answers(g, fused);
  EXPECT_EQ(node(fused, "conv").inputs.size(), 1U);
  EXPECT_EQ(count(fused, "add"), 1);
}

TEST_F(Fuse, SecondNormAndSecondActivationStay) {
  Graph g({8, 6, 6});
  auto x = g.batch_norm("bn1", g.conv2d("conv", g.image(), {.channels = 8}));
  x = g.relu6("relu6", g.relu("relu", g.batch_norm("bn2", x)));
  const Graph fused = fuse_for_inference(g);
  EXPECT_EQ(node(fused, "bn2").type->name, "batch_norm");
  EXPECT_EQ(count(fused, "batch_norm"), 1);
  EXPECT_EQ(count(fused, "activation"), 2);
}

TEST_F(Fuse, Networks) {
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
    EXPECT_EQ(count(fused, "conv2d"), e.convolutions);
    EXPECT_EQ(std::ranges::count_if(fused.nodes(), [](const Node& each) { return each.inputs.size() == 2; }),
              e.residuals);
    EXPECT_EQ(static_cast<std::int64_t>(fused.nodes().size()), e.layers);
    EXPECT_EQ(count(fused, "batch_norm"), 0);
    EXPECT_EQ(count(fused, "activation"), 0);
    EXPECT_EQ(fused.parameter_count(), graph.parameter_count());
    EXPECT_EQ(fused.macs(), graph.macs());
  }
}

}  // namespace
}  // namespace bench::kernels
