// Values of up to six dimensions, with the batch in any of them, planned and run against the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/error.h"
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/passes/training.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/operations/batch_norm/batch_norm.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/reference.h"
#include "networks_fixture.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

class Shapes : public NetworkTest {
 protected:
  Target target(std::int64_t batch) const {
    return {.batch = batch,
            .dtype = Dtype::fp32,
            .layouts = layouts_for(*device_, Dtype::fp32),
            .implementation = {}};
  }
  static std::vector<Sample> samples(const Graph& graph) {
    return {seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1), seeded_sample(graph, 1, 2)};
  }
  std::vector<float> answers(const Graph& graph) {
    ProgramRunner runner(plan_inference(graph, target(3), *device_), *device_, 1);
    runner.set_input(samples(graph));
    poison_step(runner, *device_);
    runner.run();
    return runner.output();
  }
  void expect_reference(const Graph& graph) {
    const auto found = answers(graph);
    const std::vector<Sample> given = samples(graph);
    const auto expected = reference_outputs(graph, given, 1);
    const std::size_t size = expected[0].size();
    ASSERT_EQ(found.size(), 3 * size);
    for (std::size_t sample = 0; sample < 3; ++sample) {
      EXPECT_LT(relative_error(std::span(found).subspan(sample * size, size), expected[sample]), 1e-5)
          << sample;
    }
    // A sample's answer does not depend on its neighbours.
    const auto alone = reference_outputs(graph, std::span(given).subspan(1, 1), 1);
    EXPECT_LT(relative_error(alone[0], expected[1]), 1e-6);
  }
};

// Each layer that reads rows of the last dimension, or channels, or single elements.
Graph over_rows(const Shape& shape) {
  Graph g = Graph::reading(shape);
  auto x = g.layer_norm("norm", g.image());
  x = g.gelu("gelu", g.linear("wide", x, 10));
  x = g.add("sum", x, g.relu("relu", g.linear("other", g.image(), 10)));
  g.softmax("softmax", x);
  return g;
}

TEST_F(Shapes, RowsOfAnyRankRun) {
  for (const Shape& shape :
       {Shape{kBatch, 7}, Shape{kBatch, 2, 7}, Shape{kBatch, 2, 3, 4, 7}, Shape{kBatch, 2, 3, 1, 4, 7}}) {
    SCOPED_TRACE(shape.text());
    expect_reference(over_rows(shape));
  }
}

TEST_F(Shapes, TheBatchNeedNotBeTheFirstDimension) {
  for (const Shape& shape : {Shape{5, kBatch, 7}, Shape{2, kBatch, 3, 4, 7}, Shape{2, 3, kBatch, 2, 5},
                             Shape{2, 3, 2, 4, kBatch, 7}}) {
    SCOPED_TRACE(shape.text());
    expect_reference(over_rows(shape));
  }
}

// The definition itself, written once more: softmax over the last dimension of six, the batch in the middle.
TEST_F(Shapes, SoftmaxIsOverTheLastDimension) {
  Graph g = Graph::reading({2, 3, kBatch, 1, 2, 5});
  g.softmax("softmax", g.image());
  const auto found = answers(g);
  const auto given = samples(g);
  for (std::size_t sample = 0; sample < 3; ++sample) {
    for (std::size_t row = 0; row < 12; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < 5; ++i) {
        sum += std::exp(static_cast<double>(given[sample][5 * row + i]));
      }
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(found[60 * sample + 5 * row + i],
                    std::exp(static_cast<double>(given[sample][5 * row + i])) / sum, 1e-6);
      }
    }
  }
}

TEST_F(Shapes, ConcatJoinsChannelsOfAnyRank) {
  for (const Shape& shape :
       {Shape{kBatch, 7}, Shape{5, kBatch, 7}, Shape{kBatch, 2, 3, 4, 5}, Shape{2, 3, kBatch, 2, 3, 5}}) {
    SCOPED_TRACE(shape.text());
    Graph g = Graph::reading(shape);
    g.concat("join", {g.image(), g.relu("relu", g.image()), g.image()});
    EXPECT_EQ(g[g.output()].shape.channels(), 3 * shape.channels());
    expect_reference(g);
  }
  Graph g = Graph::reading({kBatch, 1, 2});
  g.concat("join", {g.image(), g.relu("relu", g.image())});
  const auto given = samples(g);
  const auto found = answers(g);
  for (std::size_t sample = 0; sample < 3; ++sample) {
    for (std::size_t i = 0; i < 4; ++i) {
      const float value = given[sample][i % 2];
      EXPECT_EQ(found[4 * sample + i], i < 2 ? value : std::max(value, 0.0F));
    }
  }
}

// Channels are the second dimension of rank 5, as of maps.
TEST_F(Shapes, BatchNormIsOverTheChannelsOfAnyRank) {
  Graph g = Graph::reading({kBatch, 4, 2, 3, 5});
  const auto norm = g.batch_norm("norm", g.image());
  expect_reference(g);
  const auto parameter = [&](Slot slot) { return plain_parameter(g, norm, slot, 1); };
  const auto given = samples(g);
  const auto found = answers(g);
  for (std::size_t i = 0; i < 120; ++i) {
    const std::size_t channel = i / 30;
    const float expected = (given[0][i] - parameter(Slot::mean)[channel]) /
                               std::sqrt(parameter(Slot::variance)[channel] + BatchNorm{}.epsilon) *
                               parameter(Slot::scale)[channel] +
                           parameter(Slot::shift)[channel];
    EXPECT_NEAR(found[i], expected, 1e-4);
  }
}

TEST_F(Shapes, RankFiveAndSixTrain) {
  for (const Shape& shape : {Shape{kBatch, 4, 2, 3, 5}, Shape{kBatch, 4, 2, 1, 3, 5}}) {
    SCOPED_TRACE(shape.text());
    Graph g = Graph::reading(shape);
    auto x = g.batch_norm("channels", g.linear("rows", g.image(), 6));
    x = g.concat("join", {x, g.layer_norm("norm", x)});
    g.linear("fc", g.flatten("flatten", g.gelu("gelu", x)), 10);
    Trainer trainer(plan_training(g, target(3), {}, *device_), *device_, 1);
    trainer.set_batch(samples(g), std::vector<std::int32_t>{3, 8, 1});
    EXPECT_LT(check_slopes(trainer, 1).error, 0.02);
  }
}

TEST_F(Shapes, AnErrorNamesTheLayerAndTheShape) {
  const auto error = [](const auto& add) {
    try {
      add();
    } catch (const std::exception& refused) {
      return std::string(refused.what());
    }
    return std::string("nothing was refused");
  };
  Graph five = Graph::reading({kBatch, 3, 4, 5, 6});
  expect_words(error([&] { five.conv2d("conv7", five.image(), {.channels = 2}); }));
  expect_words(error([&] { five.attention("heads7", five.image(), 1); }));
  Graph late = Graph::reading({6, 4, kBatch});
  expect_words(error([&] { late.linear("fc7", late.image(), 2); }));
  Graph maps = Graph::reading({8, kBatch, 4, 4});
  expect_words(error([&] { maps.max_pool("pool7", maps.image(), {.kernel = 2}); }));
  expect_words(error([&] { maps.batch_norm("norm7", maps.image()); }));
  expect_words(error([&] { maps.flatten("flat7", maps.image()); }));
  Graph sequence = Graph::reading({6, kBatch, 9});
  expect_words(error([&] { sequence.position_embedding("places7", sequence.image(), {.rows = 9}); }));
  expect_words(error([&] { Graph::reading({6, 9}); }));
  Graph single = Graph::reading({kBatch, 9});
  single.append("mean7", {single.linear("fc", single.image(), 4)},
                ReduceOptions{.dimensions = {1}, .keep_dims = false});
  expect_words(error([&] { plan_training(single, target(3), {}, *device_); }));
}

// Single-pixel maps whose channels do not fill a group of 16 are no rows without gaps.
TEST_F(Shapes, PaddedChannelsAreNotReadAsRows) {
  Graph g({20, 1, 1});
  g.linear("fc", g.relu("relu", g.conv2d("conv", g.image(), {.channels = 20})), 3);
  Target padded = target(3);
  padded.layouts = {Layout::nchw, Layout::nchw16c};
  EXPECT_THROW(plan_inference(g, padded, *device_), Unsupported);
  padded.layouts = {Layout::nhwc, Layout::nhwc};
  EXPECT_NO_THROW(plan_inference(g, padded, *device_));
}

TEST_F(Shapes, FlattenedMapsInAnotherOrderAreNotNormalised) {
  Graph g({3, 4, 4});
  g.layer_norm("norm", g.flatten("flatten", g.conv2d("conv", g.image(), {.channels = 20})));
  Target wanted = target(3);
  for (const Layout layout : {Layout::nhwc, Layout::nchw16c}) {
    wanted.layouts = {Layout::nchw, layout};
    EXPECT_THROW(plan_inference(g, wanted, *device_), Unsupported);
  }
  wanted.layouts = {Layout::nchw, Layout::nchw};
  EXPECT_NO_THROW(plan_inference(g, wanted, *device_));
}

}  // namespace
}  // namespace bench::kernels
