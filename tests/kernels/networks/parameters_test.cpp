#include "kernels/networks/graph/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/networks/graph/drawn_once.h"
#include "kernels/networks/passes/inference.h"

namespace bench::kernels {
namespace {

Graph small() {
  Graph g({16, 8, 8});
  auto x = g.batch_norm("bn", g.conv2d("conv", g.image(), {.channels = 4, .kernel = 3}), 0.5);
  g.linear("fc", g.flatten("flatten", x), 3);
  return g;
}

TEST(Parameters, DependOnSeedAndNameOnly) {
  const Graph g = small();
  EXPECT_EQ(plain_parameter(g, 1, Slot::weights, 1), plain_parameter(g, 1, Slot::weights, 1));
  EXPECT_NE(plain_parameter(g, 1, Slot::weights, 1), plain_parameter(g, 1, Slot::weights, 2));
  EXPECT_NE(plain_parameter(g, 2, Slot::scale, 1), plain_parameter(g, 2, Slot::variance, 1));
  EXPECT_NE(plain_parameter(g, 2, Slot::shift, 1), plain_parameter(g, 2, Slot::mean, 1));
}

// Trainers that are compared draw 25 million numbers each for ResNet-50.
TEST(Parameters, AreDrawnOnceWhileThatIsAskedFor) {
  const Graph g = small();
  const Graph copy = g;
  const auto expected = plain_parameter(g, 1, Slot::weights, 1);
  const DrawnOnce once(1 << 20);
  const auto first = plain_parameter(g, 1, Slot::weights, 1);
  EXPECT_EQ(once.draws(), 1);
  EXPECT_EQ(plain_parameter(copy, 1, Slot::weights, 1), first);
  EXPECT_EQ(once.draws(), 1) << "another trainer's copy of the network";
  EXPECT_EQ(first, expected);
  EXPECT_NE(plain_parameter(g, 1, Slot::weights, 2), first) << "of another seed";
  EXPECT_EQ(once.draws(), 2);
  const Graph fused = fuse_for_inference(g);
  EXPECT_NE(plain_parameter(fused, 1, Slot::weights, 1), first) << "of a layer that is made of others";
}

TEST(Parameters, BeyondTheirShareOfMemoryAreDrawnAgain) {
  const Graph g = small();
  const DrawnOnce once(16);
  plain_parameter(g, 1, Slot::weights, 1);
  plain_parameter(g, 1, Slot::weights, 1);
  EXPECT_EQ(once.draws(), 2);
}

TEST(Parameters, WeightsHaveVarianceTwoOverFanIn) {
  Graph g({256, 1, 1});
  g.linear("fc", g.image(), 256);
  double energy = 0;
  const auto weights = plain_parameter(g, 1, Slot::weights, 3);
  for (const float w : weights) {
    energy += static_cast<double>(w) * static_cast<double>(w);
  }
  EXPECT_NEAR(energy / static_cast<double>(weights.size()), 2.0 / 256, 0.02 * 2.0 / 256);
}

TEST(Parameters, FoldingFollowsTheFormula) {
  const Graph g = small();
  const Graph fused = fuse_for_inference(g);
  const auto w = plain_parameter(g, 1, Slot::weights, 5);
  const auto folded = plain_parameter(fused, 1, Slot::weights, 5);
  const auto bias = plain_parameter(fused, 1, Slot::bias, 5);
  const auto scale = plain_parameter(g, 2, Slot::scale, 5);
  const auto shift = plain_parameter(g, 2, Slot::shift, 5);
  const auto mean = plain_parameter(g, 2, Slot::mean, 5);
  const auto variance = plain_parameter(g, 2, Slot::variance, 5);
  ASSERT_EQ(w.size(), folded.size());
  ASSERT_EQ(bias.size(), 4U);
  const std::size_t row = 16 * 9;
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_GT(variance[k], 0.4F);
    EXPECT_GT(scale[k], 0.3F);
    const float factor = scale[k] / std::sqrt(variance[k] + 1e-5F);
    EXPECT_FLOAT_EQ(folded[k * row + 7], w[k * row + 7] * factor);
    EXPECT_FLOAT_EQ(bias[k], shift[k] - mean[k] * factor);
  }
}

TEST(Parameters, FoldingKeepsABias) {
  Graph g(Image{4, 3, 3});
  ConvOptions conv{.channels = 4, .kernel = 1};
  conv.bias = true;
  g.batch_norm("norm", g.conv2d("conv", g.image(), conv));
  const Graph fused = fuse_for_inference(g);
  ASSERT_EQ(fused.output(), 1U);
  EXPECT_EQ(fused.parameter_count(), g.parameter_count());
  const auto own = plain_parameter(g, 1, Slot::bias, 5);
  const auto bias = plain_parameter(fused, 1, Slot::bias, 5);
  const auto of_norm = [&](Slot slot) { return plain_parameter(g, 2, slot, 5); };
  for (std::size_t k = 0; k < 4; ++k) {
    const float factor = of_norm(Slot::scale)[k] / std::sqrt(of_norm(Slot::variance)[k] + 1e-5F);
    EXPECT_FLOAT_EQ(bias[k], of_norm(Slot::shift)[k] + (own[k] - of_norm(Slot::mean)[k]) * factor);
  }
}

TEST(Parameters, RefuseWhatALayerHasNot) {
  const Graph g = small();
  EXPECT_THROW(plain_parameter(g, 1, Slot::bias, 1), std::logic_error);
  EXPECT_THROW(plain_parameter(g, 2, Slot::weights, 1), std::logic_error);
  EXPECT_THROW(plain_parameter(g, 3, Slot::weights, 1), std::logic_error);
}

TEST(Parameters, ImagesDifferAndAreFinite) {
  const Image shape{3, 16, 12};
  const auto a = seeded_image(shape, 1, 0);
  const auto b = seeded_image(shape, 1, 1);
  EXPECT_EQ(a.size(), 3U * 16 * 12);
  EXPECT_EQ(a, seeded_image(shape, 1, 0));
  EXPECT_NE(a, seeded_image(shape, 2, 0));
  EXPECT_GT(relative_error(a, b), 0.3);
  EXPECT_LT(relative_error(a, b), 100);
}

}  // namespace
}  // namespace bench::kernels
