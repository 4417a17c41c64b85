// Layers for values of any rank in networks: answers against the reference, gradients against differences of
// the loss, memory as planned; in the device's own layouts and in each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "bench/error.h"
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/passes/training.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"
#include "kernels/operations/gather/gather.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/reference.h"
#include "networks_fixture.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

struct ArrayNetwork {
  std::string name;
  std::function<Graph()> build;
};

Value multiply(Graph& g, const std::string& name, Value a, Value b) {
  return g.append(name, {a, b}, PointwiseOptions{.function = PointwiseFunction::multiply});
}
Value parameter(Graph& g, const std::string& name, const Shape& shape, double centre = 0) {
  return g.append(name, {}, ParameterOptions{.shape = shape, .start = {.centre = centre, .spread = 0.5}});
}
Value average(Graph& g, const std::string& name, Value x, std::vector<std::size_t> dimensions, bool keep) {
  return g.append(
      name, {x},
      ReduceOptions{
          .function = ReduceFunction::mean, .dimensions = std::move(dimensions), .keep_dims = keep});
}

// As ConvNeXt's blocks: pixels as rows, factors of channels, a sum with what was maps all along.
Graph rows_of_pixels() {
  Graph g({3, 8, 8});
  const Value stem = g.conv2d("stem", g.image(), {.channels = 20, .kernel = 2, .stride = 2, .bias = true});
  Value x = g.conv2d("depthwise", stem, {.channels = 20, .kernel = 3, .pad = 1, .groups = 20, .bias = true});
  x = g.append("rows", {x}, TransposeOptions{.order = {0, 2, 3, 1}});
  x = g.append("flat", {x}, ReshapeOptions{.shape = {kBatch, 16, 20}});
  x = g.layer_norm("norm", x);
  x = g.linear("wide", x, 40);
  x = g.activation("gelu", x, Activation::gelu_erf);
  x = g.linear("narrow", x, 20);
  x = multiply(g, "scaled", x, parameter(g, "gamma", {20}, 1));
  x = g.append("square", {x}, ReshapeOptions{.shape = {kBatch, 4, 4, 20}});
  x = g.append("maps", {x}, TransposeOptions{.order = {0, 3, 1, 2}});
  x = g.add("sum", x, stem);
  x = g.conv2d("head", x, {.channels = 12, .kernel = 3, .bias = true});
  g.linear("fc", g.flatten("flatten", x), 10);
  return g;
}

// As EfficientNet's blocks: a gate for each channel, of the mean over its pixels.
Graph gated() {
  Graph g({3, 8, 8});
  Value x = g.conv2d("conv", g.image(), {.channels = 21, .kernel = 3, .bias = true});
  x = g.activation("silu", x, Activation::silu);
  Value gate = average(g, "squeeze", x, {2, 3}, true);
  gate = g.activation("act", g.conv2d("reduce", gate, {.channels = 5, .bias = true}), Activation::hard_swish);
  gate = g.activation("gate", g.conv2d("expand", gate, {.channels = 21, .bias = true}), Activation::sigmoid);
  x = multiply(g, "gated", x, gate);
  x = g.activation("prelu", x, Activation::elu);
  x = g.append("slopes", {x, parameter(g, "slope", {21, 1, 1}, 0.3)},
               PointwiseOptions{.function = PointwiseFunction::prelu});
  x = average(g, "pool", x, {2, 3}, false);
  g.linear("fc", x, 10);
  return g;
}

// As ViT: patches as a sequence, a token before them, positions.
Graph tokens_of_patches() {
  Graph g({3, 8, 8});
  Value x = g.conv2d("patches", g.image(), {.channels = 24, .kernel = 4, .stride = 4, .bias = true});
  x = g.append("sequence", {x}, ReshapeOptions{.shape = {kBatch, 24, 4}});
  x = g.append("turned", {x}, TransposeOptions{.order = {0, 2, 1}});
  const Value token =
      g.append("tokens", {parameter(g, "token", {1, 1, 24})}, ExpandOptions{.shape = {kBatch, 1, 24}});
  x = g.append("joined", {token, x}, ConcatOptions{.dimension = 1});
  x = g.append("placed", {x, parameter(g, "positions", {1, 5, 24})}, PointwiseOptions{});
  x = g.gelu("gelu", g.linear("mlp", g.layer_norm("norm", x), 24));
  x = g.append("some", {x}, SliceOptions{.dimension = 1, .start = 0, .step = 2, .size = 3});
  x = g.append("features", {x}, ReshapeOptions{.shape = {kBatch, 72}});
  g.linear("fc", x, 10);
  return g;
}

// Channels cut and joined at odd places, shuffled, padded in every manner, joined with an image's own layout.
Graph cut_and_joined() {
  Graph g({3, 8, 8});
  Value x = g.conv2d("conv", g.image(), {.channels = 20, .kernel = 3, .pad = 1, .bias = true});
  const Value left = g.append("left", {x}, SliceOptions{.dimension = 1, .start = 0, .size = 7});
  const Value right = g.append("right", {x}, SliceOptions{.dimension = 1, .start = 7, .size = 13});
  x = g.append("joined", {right, left, g.image()}, ConcatOptions{.dimension = 1});
  x = g.append("even", {x}, SliceOptions{.dimension = 3, .start = 6, .step = -2, .size = 4});
  x = g.append(
      "edges", {x},
      PadOptions{.before = {0, 0, 1, 0}, .behind = {0, 1, 1, 2}, .outside = StridedCopy::Outside::edge});
  x = g.append(
      "mirror", {x},
      PadOptions{.before = {0, 0, 2, 1}, .behind = {0, 0, 0, 3}, .outside = StridedCopy::Outside::reflect});
  x = g.append("ones", {x}, PadOptions{.before = {0, 1, 0, 1}, .behind = {0, 0, 1, -1}, .value = 1});
  x = g.append("groups", {x}, ReshapeOptions{.shape = {kBatch, 5, 5, 13, 10}});
  x = g.append("shuffle", {x}, TransposeOptions{.order = {0, 2, 1, 3, 4}});
  x = g.append("ungroup", {x}, ReshapeOptions{.shape = {kBatch, 25, 13, 10}});
  x = g.max_pool("pool", g.conv2d("mix", x, {.channels = 18, .kernel = 3, .bias = true}),
                 {.kernel = 2, .stride = 2});
  g.linear("fc", g.flatten("flatten", x), 10);
  return g;
}

// A norm written out, masks, and reductions of every kind.
Graph written_out() {
  Graph g = Graph::reading({kBatch, 6, 11});
  Value x = g.linear("in", g.image(), 12);
  const auto pointwise = [&](const std::string& name, PointwiseFunction function, std::vector<Value> inputs) {
    return g.append(name, inputs, PointwiseOptions{.function = function});
  };
  const Value centred =
      pointwise("centred", PointwiseFunction::subtract, {x, average(g, "mean", x, {2}, true)});
  const Value spread = average(g, "variance", multiply(g, "squared", centred, centred), {2}, true);
  const Value deviation =
      g.activation("root", g.activation("safe", spread, Activation::linear(1, 0.1F)), Activation::sqrt);
  x = pointwise("normal", PointwiseFunction::divide, {centred, deviation});
  const Value zero = g.append("zero", {}, ParameterOptions{.shape = {}, .trained = false, .values = {0.25F}});
  const Value mask = pointwise("mask", PointwiseFunction::less, {zero, x});
  x = pointwise("masked", PointwiseFunction::where, {mask, x, g.activation("small", x, Activation::tanh)});
  x = pointwise("bounded", PointwiseFunction::maximum, {x, parameter(g, "floor", {6, 1}, -0.5)});
  const Value twice =
      g.append("twice", {x, x}, ConcatOptions{.dimension = 1});  // every extreme is there twice
  const auto reduce = [&](const std::string& name, ReduceFunction function) {
    const Value from = function == ReduceFunction::maximum ? twice : x;
    return g.append(name, {from}, ReduceOptions{.function = function, .dimensions = {1}, .keep_dims = false});
  };
  const Value all =
      g.append("all",
               {reduce("sum", ReduceFunction::sum), reduce("largest", ReduceFunction::maximum),
                reduce("length", ReduceFunction::l2), reduce("squares", ReduceFunction::sum_of_squares)},
               ConcatOptions{.dimension = 1});
  g.linear("fc", all, 10);
  return g;
}

// Attention written out with a bias that is looked up, products that repeat an operand, and transposed ones.
Graph products() {
  Graph g({8, 6, 6});
  const auto matmul = [&](const std::string& name, Value a, Value b, const MatmulOptions& options = {}) {
    return g.append(name, {a, b}, options);
  };
  const Value maps = g.conv2d("stem", g.image(), {.channels = 24, .kernel = 3, .bias = true});  // 24 x 4 x 4
  // Windows: two samples of six positions a sample.
  Value x = g.append("windows", {maps}, ReshapeOptions{.shape = {Extent(2, true), 12, 16}});
  x = g.append("heads", {g.linear("qk", x, 24)}, ReshapeOptions{.shape = {Extent(2, true), 12, 3, 8}});
  x = g.append("by_head", {x}, TransposeOptions{.order = {0, 2, 1, 3}});
  std::vector<std::int32_t> places;  // of every pair of positions, by their distance
  for (std::int32_t pair = 0; pair < 144; ++pair) {
    places.push_back((pair / 12 - pair % 12) % 5);
  }
  Value bias = g.append("looked_up", {parameter(g, "table", {5, 3})},
                        GatherOptions{.dimension = 0, .indices = places});
  bias = g.append("square", {bias}, ReshapeOptions{.shape = {12, 12, 3}});
  bias = g.append("bias", {bias}, TransposeOptions{.order = {2, 0, 1}});
  Value scores = matmul("scores", x, x, {.transpose_b = true, .scale = 0.25F});
  scores = g.append("biased", {scores, bias}, PointwiseOptions{});
  x = matmul("mixed", g.append("weights", {scores}, SoftmaxOptions{.dimension = 3}), x,
             {.transpose_a = true});
  x = g.append("some", {x}, GatherOptions{.dimension = 3, .indices = {7, 0, 0, -1, 3}});
  x = matmul("common", x, parameter(g, "matrix", {5, 4}));           // one matrix for all rows
  x = matmul("each_head", parameter(g, "of_heads", {3, 7, 12}), x);  // for each sample
  x = matmul("turned", x, parameter(g, "of_no_head", {1, 1, 6, 4}), {.transpose_b = true});
  x = g.append("flat", {x}, ReshapeOptions{.shape = {kBatch, 252}});
  g.linear("fc", x, 10);
  return g;
}

// Softmax over every kind of dimension; norms with an epsilon that counts.
Graph softmaxes() {
  Graph g({8, 6, 6});
  Value x = g.conv2d("stem", g.image(), {.channels = 20, .kernel = 3});
  x = g.append("norm", {x}, BatchNormOptions{.epsilon = 0.3F});
  x = g.append("channels", {x}, SoftmaxOptions{.dimension = 1, .log = true});
  x = g.append("height", {x}, SoftmaxOptions{.dimension = 2});
  x = g.append("width", {x}, SoftmaxOptions{.dimension = 3, .log = true});
  x = g.append("rows", {x}, ReshapeOptions{.shape = {kBatch, 5, 64}});
  x = g.layer_norm("scaled", x, {.epsilon = 0.2F, .shift = false});
  x = g.layer_norm("bare", g.linear("mix", x, 24), {.epsilon = 0.1F, .scale = false, .shift = false});
  x = g.append("positions", {x}, SoftmaxOptions{.dimension = 1});
  x = g.append("flat", {x}, ReshapeOptions{.shape = {kBatch, 120}});
  g.append("classes", {g.linear("fc", x, 10)}, SoftmaxOptions{.dimension = 1, .log = true});
  return g;
}

std::vector<ArrayNetwork> array_networks() {
  return {{"rows_of_pixels", rows_of_pixels},
          {"gated", gated},
          {"tokens_of_patches", tokens_of_patches},
          {"cut_and_joined", cut_and_joined},
          {"written_out", written_out},
          {"products", products},
          {"softmaxes", softmaxes}};
}

class ArrayLayers : public NetworkTest, public ::testing::WithParamInterface<ArrayNetwork> {
 protected:
  Target target(std::int64_t batch, const NetworkLayouts& layouts, Dtype dtype = Dtype::fp32) const {
    return {.batch = batch, .dtype = dtype, .layouts = layouts, .implementation = {}};
  }
  // Not nchw throughout: with 1x1 maps, oneDNN 2.6's cache of primitives takes a backward convolution in nhwc
  // for one in nchw. A device has one layout only.
  static std::vector<NetworkLayouts> all_layouts() {
    return {{Layout::nchw, Layout::nchw16c}, {Layout::nhwc, Layout::nhwc}};
  }
  static std::vector<Sample> samples(const Graph& graph) {
    return {seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1), seeded_sample(graph, 1, 2)};
  }
};

INSTANTIATE_TEST_SUITE_P(Networks, ArrayLayers, ::testing::ValuesIn(array_networks()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(ArrayLayers, AnswerAsTheReferenceInEveryLayout) {
  const Graph graph = GetParam().build();
  const auto expected = reference_outputs(graph, samples(graph), 1);
  const auto other = reference_outputs(graph, std::vector<Sample>{seeded_sample(graph, 1, 7)}, 1);
  EXPECT_GT(relative_error(other[0], expected[0]), 1e-3);  // they depend on the input
  for (const NetworkLayouts& layouts : all_layouts()) {
    for (const bool fused : {false, true}) {
      SCOPED_TRACE(std::string(name_of(layouts.inner)) + (fused ? " fused" : ""));
      const Graph tested = fused ? fuse_for_inference(graph) : graph;
      ProgramRunner runner(plan_inference(tested, target(3, layouts), *device_), *device_, 1);
      runner.set_input(samples(graph));
      poison_step(runner, *device_);
      runner.run();
      const std::vector<float> found = runner.output();
      for (std::size_t sample = 0; sample < 3; ++sample) {
        EXPECT_LT(relative_error(std::span(found).subspan(sample * 10, 10), expected[sample]), 2e-5);
      }
    }
  }
}

TEST_P(ArrayLayers, GradientsAgreeWithCentralDifferencesInEveryLayout) {
  const Graph graph = GetParam().build();
  for (const NetworkLayouts& layouts : all_layouts()) {
    for (const bool recompute : {false, true}) {
      SCOPED_TRACE(std::string(name_of(layouts.inner)) + (recompute ? " recomputed" : ""));
      TrainOptions options;
      options.recompute = recompute;
      Trainer trainer(plan_training(graph, target(3, layouts), options, *device_), *device_, 1);
      trainer.set_batch(samples(graph), std::vector<std::int32_t>{3, 8, 1});
      const SlopeCheck check = check_slopes(trainer, 1);
      EXPECT_LT(check.error, 0.02) << check.by_differences << " measured, " << check.by_gradient
                                   << " by the gradient";
    }
  }
}

// Every parameter by itself: along the whole gradient a small one's would not be seen.
TEST_P(ArrayLayers, EachParameterHasTheSameGradientInEveryLayout) {
  const Graph graph = GetParam().build();
  const auto gradients = [&](const NetworkLayouts& layouts, const std::string& implementation) {
    Target wanted = target(3, layouts);
    wanted.implementation = implementation;
    Trainer trainer(plan_training(graph, wanted, {}, *device_), *device_, 1);
    trainer.set_batch(samples(graph), std::vector<std::int32_t>{3, 8, 1});
    trainer.run_gradients();
    std::map<std::string, std::vector<float>> all;
    for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
      const PlannedParameter& parameter = trainer.plan().parameters[i];
      // Columns after a flatten are in the order of the layout.
      if (graph[parameter.layer].name != "fc") {
        all[graph[parameter.layer].name + " " + std::string(name_of(parameter.slot))] = trainer.gradient(i);
      }
    }
    return all;
  };
  const auto expected = gradients({Layout::nchw, Layout::nchw}, "reference");
  EXPECT_FALSE(expected.empty());
  for (const NetworkLayouts& layouts : all_layouts()) {
    for (const auto& [name, found] : gradients(layouts, "")) {
      SCOPED_TRACE(std::string(name_of(layouts.inner)) + " " + name);
      EXPECT_LT(relative_error(found, expected.at(name)), 1e-4);
    }
  }
}

TEST_P(ArrayLayers, TakeTheMemoryThatWasPlanned) {
  const Graph graph = GetParam().build();
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    if (device_->unsupported(dtype)) {
      continue;
    }
    for (const NetworkLayouts& layouts : all_layouts()) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::string(name_of(layouts.inner)));
      ProgramPlan inference = plan_inference(graph, target(2, layouts, dtype), *device_);
      const MemoryPlan planned = inference.memory();
      device_->memory().reset_peak();
      { const ProgramRunner runner(std::move(inference), *device_, 1); }
      EXPECT_EQ(device_->memory().peak(), planned.peak);
      ProgramPlan training = plan_training(graph, target(2, layouts, dtype), {}, *device_);
      const MemoryPlan trained = training.memory();
      device_->memory().reset_peak();
      { const Trainer trainer(std::move(training), *device_, 1); }
      EXPECT_EQ(device_->memory().peak(), trained.peak);
    }
  }
}

class ArrayShapes : public NetworkTest {};

// Rows in memory as maps are stored: no copy is recorded.
TEST_F(ArrayShapes, WhatLiesInOrderIsNotCopied) {
  Graph g({8, 4, 4});
  Value x = g.relu("relu", g.conv2d("conv", g.image(), {.channels = 16}));
  x = g.append("rows", {x}, TransposeOptions{.order = {0, 2, 3, 1}});
  x = g.append("flat", {x}, ReshapeOptions{.shape = {kBatch, 16, 16}});
  g.linear("fc", x, 3);
  const auto copies = [&](Layout layout) {
    const ProgramPlan plan = plan_inference(
        g, {.batch = 2, .dtype = Dtype::fp32, .layouts = {layout, layout}, .implementation = {}}, *device_);
    return plan.program.instructions().size();
  };
  EXPECT_EQ(copies(Layout::nhwc), 3U);
  EXPECT_EQ(copies(Layout::nchw), 4U);
}

TEST_F(ArrayShapes, ProductsOfMatricesAreCounted) {
  Graph g = Graph::reading({kBatch, 4, 6});
  g.append("square", {g.image(), g.image()}, MatmulOptions{.transpose_b = true});
  EXPECT_EQ(g.macs(), 4 * 4 * 6);
  const Value matrix = parameter(g, "matrix", {3, 4, 5});
  g.append("three", {g.append("more", {g.image()}, ReshapeOptions{.shape = {kBatch, 1, 6, 4}}), matrix},
           MatmulOptions{});
  EXPECT_EQ(g.macs(), 4 * 4 * 6 + 3 * 6 * 4 * 5);
}

TEST_F(ArrayShapes, PassesReadALayersOptions) {
  Graph g({8, 4, 4});
  const Value conv = g.conv2d("conv", g.image(), {.channels = 16});
  const auto* const options = options_of<ConvOptions>(g[conv]);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->channels, 16);
  EXPECT_EQ(options_of<LinearOptions>(g[conv]), nullptr);
  EXPECT_EQ(options_of<ConvOptions>(g[g.image()]), nullptr);
}

TEST_F(ArrayShapes, AnErrorNamesTheLayerAndTheShape) {
  const auto error = [](const auto& add) {
    try {
      add();
    } catch (const std::exception& refused) {
      return std::string(refused.what());
    }
    return std::string("nothing was refused");
  };
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  Graph g = Graph::reading({kBatch, 4, 6});
  const Value x = g.image();
  const auto refused = [&](const auto& options, std::vector<Value> inputs) {
    return error([&] { g.append("layer7", inputs, options); });
  };
  const auto named = AllOf(HasSubstr("layer7"), HasSubstr("batch x 4 x 6"));
  EXPECT_THAT(refused(ReshapeOptions{.shape = {kBatch, 23}}, {x}), named);
  EXPECT_THAT(refused(ReshapeOptions{.shape = {24}}, {x}), named);
  EXPECT_THAT(refused(TransposeOptions{.order = {0, 1, 1}}, {x}), named);
  EXPECT_THAT(refused(SliceOptions{.dimension = 1, .start = 2, .size = 3}, {x}), named);
  EXPECT_THAT(refused(SliceOptions{.dimension = 0}, {x}), named);
  EXPECT_THAT(refused(PadOptions{.before = {1, 0, 0}, .behind = {0, 0, 0}}, {x}), named);
  EXPECT_THAT(refused(ReduceOptions{.dimensions = {0}}, {x}), named);
  EXPECT_THAT(refused(ReduceOptions{.dimensions = {3}}, {x}), named);
  EXPECT_THAT(refused(ExpandOptions{.shape = {kBatch, 8, 6}}, {x}), named);
  const Value five = g.append("five", {}, ParameterOptions{.shape = {5}});
  expect_words(refused(PointwiseOptions{}, {x, five}));
  EXPECT_THAT(refused(GatherOptions{.dimension = 1, .indices = {4}}, {x}), named);
  EXPECT_THAT(refused(GatherOptions{.dimension = 1, .indices = {-5}}, {x}), named);
  EXPECT_THAT(refused(GatherOptions{.dimension = 0, .indices = {0}}, {x}), named);
  EXPECT_THAT(refused(MatmulOptions{}, {x, x}), named);
  expect_words(refused(MatmulOptions{}, {x, five}));
  const Value turned = g.append("turned", {x}, TransposeOptions{.order = {1, 0, 2}});
  expect_words(refused(MatmulOptions{.transpose_a = true}, {turned, turned}));
  const Value pairs = g.append("pairs", {x}, ReshapeOptions{.shape = {kBatch, 24}});
  expect_words(refused(MatmulOptions{.transpose_b = true}, {pairs, pairs}));
  expect_words(refused(ParameterOptions{.shape = {kBatch, 5}}, {}));
  expect_words(refused(PointwiseOptions{}, {}));
}

}  // namespace
}  // namespace bench::kernels
