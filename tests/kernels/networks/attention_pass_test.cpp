// Attention that networks write out: found in each form, and nothing else; with the same answers, gradients
// and multiply-adds.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "kernels/networks/eager/terms.h"
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/passes/attention.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/passes/training.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"
#include "kernels/operations/gather/gather.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/reference.h"
#include "networks_fixture.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr std::int64_t kLength = 6;
constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kSize = 8;
constexpr std::int64_t kWidth = kHeads * kSize;

// Builders of a graph's parts. Hindered: a rectifier after the softmax, which changes nothing, keeps
// attention from being found.
class Written {
 public:
  explicit Written(bool hindered = false) : hindered_(hindered) {}

  Value reshape(const std::string& name, Value x, const Shape& shape) {
    return g.append(name, {x}, ReshapeOptions{.shape = shape});
  }
  Value transpose(const std::string& name, Value x, std::vector<std::size_t> order) {
    return g.append(name, {x}, TransposeOptions{.order = std::move(order)});
  }
  Value slice(const std::string& name, Value x, std::size_t dimension, std::int64_t start,
              std::int64_t size = 1) {
    return g.append(name, {x}, SliceOptions{.dimension = dimension, .start = start, .size = size});
  }
  Value matmul(const std::string& name, Value a, Value b, const MatmulOptions& options = {}) {
    return g.append(name, {a, b}, options);
  }
  Value pointwise(const std::string& name, PointwiseFunction function, std::vector<Value> inputs) {
    return g.append(name, inputs, PointwiseOptions{.function = function});
  }
  Value constant(const std::string& name, const Shape& shape, std::vector<float> values,
                 bool trained = false) {
    return g.append(name, {},
                    ParameterOptions{.shape = shape, .trained = trained, .values = std::move(values)});
  }
  Value scaled(const std::string& name, Value x, PointwiseFunction by, float factor) {
    return pointwise(name, by, {x, constant(name + " by", {}, {factor})});
  }
  Value softmax(const std::string& name, Value x, std::size_t dimension = 3) {
    const Value made = g.append(name, {x}, SoftmaxOptions{.dimension = dimension});
    return hindered_ ? g.relu(name + " hindered", made) : made;
  }
  Value stem() { return g.linear("stem", g.image(), kWidth); }
  Value heads(const std::string& name, Value x, std::int64_t length = kLength) {
    return transpose(name + " by head", reshape(name + " cut", x, {kBatch, length, kHeads, kSize}),
                     {0, 2, 1, 3});
  }
  // Rows of all heads again, and what a network ends in.
  Graph finish(Value mixed) {
    const Value rows = reshape("rows", transpose("together", mixed, {0, 2, 1, 3}), {kBatch, kLength, kWidth});
    return finish_rows(rows);
  }
  Graph finish_rows(Value rows) {
    const Value flat = reshape("flat", g.linear("out", rows, 4), {kBatch, 4 * kLength});
    g.linear("fc", flat, 10);
    return g;
  }

  Graph g = Graph::reading({kBatch, kLength, 7});

 private:
  bool hindered_;
};

// A square that hides later positions, and shows the others as 0.
std::vector<float> hiding(float hidden) {
  std::vector<float> all;
  for (std::int64_t i = 0; i < kLength; ++i) {
    for (std::int64_t j = 0; j < kLength; ++j) {
      all.push_back(j > i ? hidden : 0);
    }
  }
  return all;
}

// As ViT of timm: one linear layer, a dimension for the three, the scale after the product.
Graph packed(bool hindered) {
  Written w(hindered);
  Value x = w.g.linear("qkv", w.g.layer_norm("norm", w.stem()), 3 * kWidth);
  x = w.reshape("cut", x, {kBatch, kLength, 3, kHeads, kSize});
  x = w.transpose("by head", x, {2, 0, 3, 1, 4});
  const auto part = [&](const std::string& name, std::int64_t which) {
    const Value one = which == 1
                          ? w.g.append(name + " one", {x}, GatherOptions{.dimension = 0, .indices = {-2}})
                          : w.slice(name + " one", x, 0, which);
    return w.reshape(name, one, {kBatch, kHeads, kLength, kSize});
  };
  const Value scores = w.matmul("scores", part("q", 0), part("k", 1), {.transpose_b = true});
  const Value weights =
      w.softmax("weights", w.scaled("scaled", scores, PointwiseFunction::divide, std::sqrt(8.0F)));
  return w.finish(w.matmul("mixed", weights, part("v", 2)));
}

// As BERT: three linear layers, another scale on queries and keys, a mask of ones.
Graph separate(bool hindered) {
  Written w(hindered);
  const Value x = w.stem();
  const Value q =
      w.scaled("q scaled", w.heads("q", w.g.linear("query", x, kWidth)), PointwiseFunction::multiply, 0.7F);
  Value k = w.reshape("k cut", w.g.linear("key", x, kWidth), {kBatch, kLength, kHeads, kSize});
  k = w.g.append("k scaled", {w.transpose("k turned", k, {0, 2, 3, 1})},
                 ActivationOptions{.activation = Activation::linear(0.7F, 0)});
  const Value scores = w.matmul("scores", q, k);
  const Value mask = w.constant("mask", {1, 1, 1, kLength}, std::vector<float>(kLength, 0.0F));
  const Value weights = w.softmax("weights", w.pointwise("masked", PointwiseFunction::add, {scores, mask}));
  return w.finish(w.matmul("mixed", weights, w.heads("v", w.g.linear("value", x, kWidth))));
}

// As a decoder that reads an encoder: fewer keys, packed with the values.
Graph crossed(bool hindered) {
  Written w(hindered);
  const Value x = w.stem();
  const Value memory = w.slice("memory", x, 1, 1, 4);
  Value kv = w.reshape("cut", w.g.linear("kv", memory, 2 * kWidth), {kBatch, 4, 2, kHeads, kSize});
  kv = w.transpose("by head", kv, {2, 0, 3, 1, 4});
  const auto part = [&](const std::string& name, std::int64_t which) {
    return w.reshape(name, w.slice(name + " one", kv, 0, which), {kBatch, kHeads, 4, kSize});
  };
  const Value q = w.heads("q", w.g.linear("query", x, kWidth));
  const Value scores = w.matmul("scores", q, part("k", 0), {.transpose_b = true, .scale = 0.5F});
  const Value weights = w.softmax("weights", w.scaled("scaled", scores, PointwiseFunction::multiply, 0.5F));
  return w.finish(w.matmul("mixed", weights, part("v", 1)));
}

// As torch's MultiheadAttention: sequences before the batch, heads and batch as one.
Graph sequence_first(bool hindered) {
  Written w(hindered);
  Value x = w.transpose("turned", w.stem(), {1, 0, 2});
  x = w.reshape("cut", w.g.linear("qkv", x, 3 * kWidth), {kLength, kBatch, 3, kWidth});
  x = w.transpose("parted", x, {2, 0, 1, 3});
  const auto part = [&](const std::string& name, std::int64_t which) {
    const Value one =
        w.reshape(name + " cut", w.slice(name + " one", x, 0, which), {kLength, Extent(kHeads, true), kSize});
    return w.transpose(name, one, {1, 0, 2});
  };
  const Value q = w.scaled("q scaled", part("q", 0), PointwiseFunction::multiply, 0.3F);
  const Value scores = w.matmul("scores", q, w.transpose("kt", part("k", 1), {0, 2, 1}));
  Value mixed = w.matmul("mixed", w.softmax("weights", scores, 2), part("v", 2));
  mixed = w.reshape("rows", w.transpose("together", mixed, {1, 0, 2}), {kLength, kBatch, kWidth});
  return w.finish_rows(w.transpose("back", mixed, {1, 0, 2}));
}

// As GPT-2: later positions are hidden, by a sum or by a choice.
Graph causal(bool hindered, bool by_choice) {
  Written w(hindered);
  const Value x = w.g.linear("qkv", w.stem(), 3 * kWidth);
  const auto part = [&](const std::string& name, std::int64_t which) {
    return w.heads(name, w.slice(name + " part", x, 2, which * kWidth, kWidth));
  };
  Value scores = w.matmul("scores", part("q", 0), part("k", 1), {.transpose_b = true});
  scores = w.scaled("scaled", scores, PointwiseFunction::multiply, 0.4F);
  if (by_choice) {
    std::vector<float> shown = hiding(-1);
    for (float& value : shown) {
      value += 1;
    }
    scores = w.pointwise("masked", PointwiseFunction::where,
                         {w.constant("mask", {1, 1, kLength, kLength}, shown), scores,
                          w.constant("least", {}, {std::numeric_limits<float>::lowest()})});
  } else {
    scores = w.pointwise("masked", PointwiseFunction::add,
                         {w.constant("mask", {kLength, kLength}, hiding(-1e4F)), scores});
  }
  return w.finish(w.matmul("mixed", w.softmax("weights", scores), part("v", 2)));
}

// Heads outside of queries, keys and values: they are copied into rows.
Graph interleaved(bool hindered) {
  Written w(hindered);
  Value x = w.reshape("cut", w.g.linear("qkv", w.stem(), 3 * kWidth), {kBatch, kLength, kHeads, 3, kSize});
  x = w.transpose("by head", x, {3, 0, 2, 1, 4});
  const auto part = [&](const std::string& name, std::int64_t which) {
    return w.reshape(name, w.slice(name + " one", x, 0, which), {kBatch, kHeads, kLength, kSize});
  };
  const Value q = w.scaled("q scaled", part("q", 0), PointwiseFunction::multiply, 0.3F);
  const Value scores = w.matmul("scores", q, part("k", 1), {.transpose_b = true});
  return w.finish(w.matmul("mixed", w.softmax("weights", scores), part("v", 2)));
}

struct Form {
  std::string name;
  std::function<Graph(bool hindered)> build;
  std::int64_t copies;  // transposes that are left
};

class AttentionPass : public NetworkTest, public ::testing::WithParamInterface<Form> {
 protected:
  static Target target() { return {.batch = 3, .dtype = Dtype::fp32, .layouts = {}, .implementation = {}}; }
  static std::vector<Sample> samples(const Graph& graph) {
    return {seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1), seeded_sample(graph, 1, 2)};
  }
  static std::int64_t count(const Graph& graph, std::string_view kind) {
    return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.is(kind); });
  }
};

INSTANTIATE_TEST_SUITE_P(
    Forms, AttentionPass,
    ::testing::Values(Form{"packed", packed, 0}, Form{"separate", separate, 0}, Form{"crossed", crossed, 0},
                      Form{"sequence_first", sequence_first, 2},
                      Form{"causal_sum", [](bool hindered) { return causal(hindered, false); }, 0},
                      Form{"causal_choice", [](bool hindered) { return causal(hindered, true); }, 0},
                      Form{"interleaved", interleaved, 4}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(AttentionPass, FindsIt) {
  const Graph graph = GetParam().build(false);
  const Graph found = with_attention(graph);
  EXPECT_EQ(count(found, "attention"), 1);
  EXPECT_EQ(count(found, "matmul"), 0);
  EXPECT_EQ(count(found, "softmax"), 0);
  EXPECT_EQ(count(found, "transpose"), GetParam().copies);
  EXPECT_EQ(found.macs(), graph.macs());
  EXPECT_EQ(found.parameter_count(), graph.parameter_count());
  EXPECT_EQ(found[found.output()].name, "fc");
}

TEST_P(AttentionPass, HasTheSameAnswers) {
  const Graph graph = GetParam().build(false);
  const auto expected = reference_outputs(graph, samples(graph), 1);
  const auto by_reference = reference_outputs(with_attention(graph), samples(graph), 1);
  ProgramRunner runner(plan_inference(fuse_for_inference(graph), target(), *device_), *device_, 1);
  runner.set_input(samples(graph));
  poison_step(runner, *device_);
  runner.run();
  const std::vector<float> found = runner.output();
  for (std::size_t sample = 0; sample < 3; ++sample) {
    EXPECT_LT(relative_error(by_reference[sample], expected[sample]), 2e-6);
    EXPECT_LT(relative_error(std::span(found).subspan(sample * 10, 10), expected[sample]), 1e-5);
  }
}

// As the network that stays as it is written.
TEST_P(AttentionPass, HasTheSameGradients) {
  ASSERT_EQ(count(with_attention(GetParam().build(true)), "attention"), 0);
  const auto gradients = [&](const Graph& graph) {
    Trainer trainer(plan_training(graph, target(), {}, *device_), *device_, 1);
    trainer.set_batch(samples(graph), std::vector<std::int32_t>{3, 8, 1});
    trainer.run_gradients();
    std::map<std::string, std::vector<float>> all;
    for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
      const PlannedParameter& parameter = trainer.plan().parameters[i];
      all[trainer.plan().graph[parameter.layer].name + " " + std::string(name_of(parameter.slot))] =
          trainer.gradient(i);
    }
    return all;
  };
  const auto expected = gradients(GetParam().build(true));
  const auto found = gradients(GetParam().build(false));
  EXPECT_GE(found.size(), 8U);
  for (const auto& [name, gradient] : found) {
    // Only rounding: softmax does not see what all scores have in common.
    if (name != "key bias") {
      EXPECT_LT(relative_error(gradient, expected.at(name)), 1e-5) << name;
    }
  }
}

TEST_P(AttentionPass, TakesTheMemoryThatWasPlanned) {
  const Graph graph = GetParam().build(false);
  ProgramPlan inference = plan_inference(fuse_for_inference(graph), target(), *device_);
  const MemoryPlan planned = inference.memory();
  device_->memory().reset_peak();
  { const ProgramRunner runner(std::move(inference), *device_, 1); }
  EXPECT_EQ(device_->memory().peak(), planned.peak);
  ProgramPlan training = plan_training(graph, target(), {}, *device_);
  const MemoryPlan trained = training.memory();
  device_->memory().reset_peak();
  { const Trainer trainer(std::move(training), *device_, 1); }
  EXPECT_EQ(device_->memory().peak(), trained.peak);
}

// Something between queries, keys and values and the result that attention does not do.
enum class Miss {
  bias,
  dimension,
  logarithm,
  sigmoid,
  read_scores,
  read_weights,
  mask,
  ahead,
  negative,
  shift
};

Graph nearly(Miss miss) {
  Written w;
  const Value x = w.stem();
  const Value q = w.heads("q", w.g.linear("query", x, kWidth));
  const Value k = w.heads("k", w.g.linear("key", x, kWidth));
  const Value v = w.heads("v", w.g.linear("value", x, kWidth));
  const Value product =
      w.matmul("scores", q, k, {.transpose_b = true, .scale = miss == Miss::negative ? -1.0F : 1.0F});
  Value scores = product;
  const auto add = [&](const Shape& shape, std::vector<float> values, bool trained) {
    scores =
        w.pointwise("added", PointwiseFunction::add, {scores, w.constant("summand", shape, values, trained)});
  };
  if (miss == Miss::bias) {  // by position, as Swin has it
    add({kHeads, kLength, kLength}, {}, true);
  } else if (miss == Miss::mask) {  // hides a position from itself
    std::vector<float> values = hiding(-1e4F);
    values[0] = -1e4F;
    add({kLength, kLength}, values, false);
  } else if (miss == Miss::ahead) {  // hides earlier positions
    std::vector<float> values = hiding(-1e4F);
    std::ranges::reverse(values);
    add({kLength, kLength}, values, false);
  } else if (miss == Miss::shift) {
    scores = w.g.activation("shifted", scores, Activation::linear(2, 1));
  }
  const Value weights = miss == Miss::sigmoid
                            ? w.g.activation("weights", scores, Activation::sigmoid)
                            : w.g.append("weights", {scores},
                                         SoftmaxOptions{.dimension = miss == Miss::dimension ? 2U : 3U,
                                                        .log = miss == Miss::logarithm});
  Value mixed = w.matmul("mixed", weights, v);
  if (miss == Miss::read_scores || miss == Miss::read_weights) {
    const Value other = miss == Miss::read_scores ? product : weights;
    mixed = w.pointwise("both", PointwiseFunction::add, {mixed, w.slice("some", other, 3, 0)});
  }
  return w.finish(mixed);
}

TEST(AttentionPassMisses, StayAsTheyAre) {
  for (const Miss miss : {Miss::bias, Miss::dimension, Miss::logarithm, Miss::sigmoid, Miss::read_scores,
                          Miss::read_weights, Miss::mask, Miss::ahead, Miss::negative, Miss::shift}) {
    SCOPED_TRACE(static_cast<int>(miss));
    const Graph graph = nearly(miss);
    const Graph same = with_attention(graph);
    ASSERT_EQ(same.nodes().size(), graph.nodes().size());
    for (Value value = 1; value < graph.nodes().size(); ++value) {
      EXPECT_EQ(same[value].name, graph[value].name);
      EXPECT_FALSE(same[value].is("attention"));
    }
  }
}

// A network of text that scales its scores is code that writes attention out: its step takes that long, as
// its memory holds that much.
TEST(WrittenAttention, TakesTheTimeOfItsCode) {
  const auto terms = [](std::optional<AttentionForm> named) {
    EagerSetting setting{.dtype = Dtype::fp16, .train = true};
    setting.attention = named;
    return eager_terms(packed(false), setting);
  };
  const NetworkTerms told = terms({});
  EXPECT_EQ(told.attention, AttentionForm::eager);
  EXPECT_EQ(told.per_sample.bytes, terms(AttentionForm::eager).per_sample.bytes);
  EXPECT_EQ(told.per_step.launches, terms(AttentionForm::eager).per_step.launches);
  EXPECT_LT(terms(AttentionForm::fused).per_step.launches, told.per_step.launches);
}

}  // namespace
}  // namespace bench::kernels
