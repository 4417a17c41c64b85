// The convolutions that eager PyTorch asks cuDNN for.
#include "kernels/networks/eager/convolutions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

std::int64_t count_passes(const std::vector<Conv2d>& all, Direction direction) {
  return std::ranges::count(all, direction, &Conv2d::direction);
}

Graph three_convolutions() {
  Graph g({3, 16, 16});
  Graph::Value x = g.conv2d("stem", g.image(), {.channels = 8, .kernel = 3, .pad = 1, .bias = true});
  x = g.conv2d("second", x, {.channels = 8, .kernel = 3, .pad = 1});
  g.conv2d("third", x, {.channels = 8, .kernel = 3, .pad = 1});  // as the second
  return g;
}

TEST(EagerConvolutions, OfInferenceComeOnceAndAlone) {
  const auto all = eager_convolutions(three_convolutions(), {.dtype = Dtype::fp16}, 32, Layout::nchw);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].in_channels, 3);
  EXPECT_EQ(all[0].batch, 32);
  EXPECT_EQ(all[0].dtype, Dtype::fp16);
  EXPECT_EQ(all[0].src_layout, Layout::nchw);
  EXPECT_FALSE(all[0].bias) << "PyTorch adds it after the convolution";
}

TEST(EagerConvolutions, OfTrainingHaveGradients) {
  const auto all =
      eager_convolutions(three_convolutions(), {.train = true, .micro_batches = 4}, 32, Layout::nhwc);
  EXPECT_EQ(count_passes(all, Direction::forward), 2);
  EXPECT_EQ(count_passes(all, Direction::backward_weights), 2);
  EXPECT_EQ(count_passes(all, Direction::backward_data), 1) << "the image has no gradient";
  EXPECT_EQ(all[0].batch, 8) << "of a micro-batch";
}

TEST(EagerConvolutions, LeaveDepthwiseOnesToPyTorch) {
  Graph g({8, 16, 16});
  const Graph::Value x = g.conv2d("depthwise", g.image(), {.channels = 8, .kernel = 3, .groups = 8});
  g.conv2d("grouped", x, {.channels = 8, .kernel = 3, .groups = 2});
  const auto all = eager_convolutions(g, {}, 1, Layout::nchw);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].groups, 2);
}

TEST(EagerConvolutions, ATransposedOneIsTheGradientOfAnother) {
  Graph g({8, 16, 16});
  const Graph::Value x = g.conv2d("first", g.image(), {.channels = 8, .kernel = 1});
  g.conv_transpose("up", x, 4, 2);
  const auto all = eager_convolutions(g, {.train = true}, 1, Layout::nchw);
  const auto of_up = [](const Conv2d& spec) { return spec.in_channels == 4; };
  EXPECT_EQ(std::ranges::count_if(all, of_up), 3);
  const auto forward = std::ranges::find_if(all, of_up);
  ASSERT_NE(forward, all.end());
  EXPECT_EQ(forward->direction, Direction::backward_data);
  EXPECT_EQ(forward->height, 32);
  EXPECT_EQ(forward->out_height(), 16);
}

TEST(EagerConvolutions, OfResNet50AreThoseOfItsLayers) {
  const Graph graph = build_network(*registry<NetworkType>().find("resnet50"), {});
  const auto all = eager_convolutions(graph, {.train = true}, 32, Layout::nchw);
  EXPECT_EQ(count_passes(all, Direction::forward), 23) << "different ones of 53";
  EXPECT_EQ(count_passes(all, Direction::backward_weights), 23);
  EXPECT_EQ(count_passes(all, Direction::backward_data), 22);
}

}  // namespace
}  // namespace bench::kernels
