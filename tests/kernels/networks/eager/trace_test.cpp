// Which operations eager PyTorch runs for layers, and what a step's memory holds.
#include "kernels/networks/eager/trace.h"

#include <gmock/gmock.h>

#include <numeric>
#include <string>
#include <vector>

#include "kernels/networks/eager/memory.h"
#include "kernels/networks/eager/terms.h"
#include "kernels/networks/eager/widths.h"
#include "kernels/networks/graph/array_options.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Value = Graph::Value;

std::vector<std::string> kinds_of(const Graph& graph) {
  std::vector<std::string> kinds;
  for (const EagerStep& step : eager_trace(graph).steps) {
    kinds.push_back(step.kind);
  }
  return kinds;
}

// Three rows of features, as one linear layer makes them.
constexpr std::int64_t kTokens = 6;
constexpr std::int64_t kHeadCount = 2;
constexpr std::int64_t kHeadSize = 4;  // of a head

Value reshape_of(Graph& g, Value x, const Shape& shape) {
  return g.append("reshape", {x}, ReshapeOptions{.shape = shape});
}
Value transpose_of(Graph& g, Value x, const std::vector<std::size_t>& order) {
  return g.append("transpose", {x}, TransposeOptions{.order = order});
}
// Rows cut into heads, which come first.
Value in_heads(Graph& g, Value x) {
  return transpose_of(g, reshape_of(g, x, {kBatch, kTokens, kHeadCount, kHeadSize}), {0, 2, 1, 3});
}

TEST(EagerTrace, ShuffledChannelsAreCopiedOnce) {
  Graph g({8, 4, 4});
  Value x = reshape_of(g, g.image(), {kBatch, 2, 4, 4, 4});
  x = reshape_of(g, transpose_of(g, x, {0, 2, 1, 3, 4}), Shape::maps(8, 4, 4));
  g.relu("relu", x);
  EXPECT_THAT(kinds_of(g), ElementsAre("copy", "activation"));
}

TEST(EagerTrace, ViewsAreNoOperations) {
  Graph g({8, 4, 4});
  Value x = g.append("slice", {g.image()}, SliceOptions{.dimension = 1, .start = 2, .step = 1, .size = 4});
  x = transpose_of(g, x, {0, 2, 3, 1});
  g.append("slice", {x}, SliceOptions{.dimension = 1, .start = 0, .step = 2, .size = 2});
  EXPECT_THAT(kinds_of(g), IsEmpty());
}

// Rows of heads lie apart: a product of all of them has no single stride from matrix to matrix.
TEST(EagerTrace, HeadsAreCopiedBeforeAProductAndPutTogetherBehindIt) {
  Graph g = Graph::reading(Shape::sequence(kTokens, kHeadCount * kHeadSize));
  const Value q = in_heads(g, g.linear("q", 0, kHeadCount * kHeadSize));
  const Value k = in_heads(g, g.linear("k", 0, kHeadCount * kHeadSize));
  const Value scores = g.append("scores", {q, k}, MatmulOptions{.transpose_b = true});
  reshape_of(g, transpose_of(g, scores, {0, 2, 1, 3}), {kBatch, kTokens, kHeadCount * kTokens});
  EXPECT_THAT(kinds_of(g), ElementsAre("linear", "linear", "copy", "copy", "matmul", "copy"));
}

// A bias is part of the product with two or three dimensions, as the network was written.
TEST(EagerTrace, ABiasIsAddedWhereALinearLayerReadsFourDimensions) {
  for (const std::size_t rank : {0, 3, 4}) {
    Graph g = Graph::reading(Shape::sequence(kTokens, 8));
    g.linear("linear", 0, LinearOptions{.features = 4, .rank = rank});
    const EagerTrace trace = eager_trace(g);
    EXPECT_EQ(trace.steps.size(), rank == 4 ? 2U : 1U);
    EXPECT_EQ(trace.steps.back().operation.traffic, rank == 4 ? Traffic::elementwise : Traffic::matrix);
  }
}

// Columns as rows: a product for each sample. A reshape before the layer copies them instead.
TEST(EagerTrace, ALinearLayerOverRowsThatLieApart) {
  for (const std::size_t rank : {3, 2}) {
    Graph g = Graph::reading(Shape::sequence(kTokens, 8));
    const Value x = transpose_of(g, 0, {0, 2, 1});
    g.linear("linear", x, LinearOptions{.features = 4, .rank = rank});
    const EagerTrace trace = eager_trace(g);
    ASSERT_EQ(trace.steps.size(), 2U);
    const bool copies = rank == 2;
    const EagerStep& product = trace.steps[copies ? 1 : 0];
    ASSERT_TRUE(product.operation.product);
    EXPECT_EQ(product.operation.product->kind, copies ? ProductClass::linear : ProductClass::batched);
    EXPECT_EQ(trace.steps[copies ? 0 : 1].kind, copies ? "copy" : "linear");
  }
}

TEST(EagerTrace, ADilatedConvolutionIsNotWinograds) {
  Graph g({8, 9, 9});
  g.conv2d("dilated", g.conv2d("plain", 0, {.channels = 8, .kernel = 3}),
           {.channels = 8, .kernel = 3, .dilation = 2});
  const EagerTrace trace = eager_trace(g);
  EXPECT_EQ(trace.steps[0].operation.product->kind, ProductClass::winograd);
  EXPECT_EQ(trace.steps[1].operation.product->kind, ProductClass::dense);
}

TEST(EagerTrace, AFunctionOfElementsKeepsTheOrder) {
  Graph g({8, 4, 4});
  const Value x = g.relu("relu", transpose_of(g, g.image(), {0, 2, 3, 1}));
  reshape_of(g, x, {kBatch, 128});
  transpose_of(g, x, {0, 3, 1, 2});
  EXPECT_THAT(kinds_of(g), ElementsAre("activation", "copy"));
}

TEST(EagerTrace, AttentionThatIsWrittenOutIsOneProduct) {
  Graph g = Graph::reading(Shape::sequence(kTokens, kHeadCount * kHeadSize));
  const Value q = in_heads(g, g.linear("q", 0, kHeadCount * kHeadSize));
  const Value k = in_heads(g, g.linear("k", 0, kHeadCount * kHeadSize));
  const Value v = in_heads(g, g.linear("v", 0, kHeadCount * kHeadSize));
  const Value scores = g.append("scores", {q, k}, MatmulOptions{.transpose_b = true, .scale = 0.5F});
  const Value weights = g.append("softmax", {scores}, SoftmaxOptions{.dimension = 3});
  const Value mixed = g.append("mix", {weights, v}, MatmulOptions{});
  const Value joined =
      reshape_of(g, transpose_of(g, mixed, {0, 2, 1, 3}), {kBatch, kTokens, kHeadCount * kHeadSize});
  g.linear("out", joined, 3);
  const EagerTrace trace = eager_trace(g);
  std::vector<EagerProduct> attention;
  for (const EagerStep& step : trace.steps) {
    EXPECT_NE(step.kind, "matmul");
    EXPECT_NE(step.kind, "softmax");
    if (step.kind == "attention" && step.operation.product) {
      attention.push_back(*step.operation.product);
    }
  }
  ASSERT_EQ(attention.size(), 1U);
  EXPECT_EQ(attention[0].rows, kTokens);
  EXPECT_EQ(attention[0].columns, kTokens);
  EXPECT_EQ(attention[0].depth, 2 * kHeadSize);
  EXPECT_EQ(attention[0].count, kHeadCount);
}

// What depends on no sample runs once a step.
TEST(EagerTerms, AFunctionOfParametersCountsOnceAStep) {
  Graph g({8, 4, 4});
  const Value table = g.append("table", {}, ParameterOptions{.shape = {8, 1, 1}});
  const Value gate = g.activation("gate", table, Activation::sigmoid);
  g.append("scale", {g.image(), gate}, PointwiseOptions{.function = PointwiseFunction::multiply});
  const NetworkTerms terms = eager_terms(g, {.dtype = Dtype::fp32});
  const auto weights = static_cast<std::size_t>(Traffic::weights);
  const auto elementwise = static_cast<std::size_t>(Traffic::elementwise);
  EXPECT_EQ(terms.per_step.bytes.at(weights), 4 * 2 * 8);
  EXPECT_EQ(terms.per_sample.bytes.at(elementwise), 4 * (2 * 128 + 8));
  EXPECT_EQ(terms.per_step.launches, 2);
}

// Autocast: a layer norm answers in fp32, which the linear layer behind it casts; the sum of both is fp32.
TEST(EagerTerms, AutocastFollowsTheEdges) {
  Graph g = Graph::reading(Shape::sequence(kTokens, 8));
  const Value norm = g.layer_norm("norm", g.linear("in", 0, 8));
  g.relu("relu", g.add("add", norm, g.linear("out", norm, 8)));
  const EagerTrace trace = eager_trace(g);
  const EagerWidths widths = eager_widths(trace, Dtype::fp16, false);
  std::vector<double> written;
  for (const EagerStep& step : trace.steps) {
    written.push_back(widths.tensors[step.result]);
  }
  EXPECT_THAT(written, ElementsAre(2, 4, 2, 4, 4));
  const NetworkTerms terms = eager_terms(g, {.dtype = Dtype::fp16});
  const double values = kTokens * 8;
  // Two casts of 6 bytes a value; the sum reads 4 and 2 and writes 4; the activation reads and writes 4.
  EXPECT_EQ(terms.per_sample.bytes.at(static_cast<std::size_t>(Traffic::elementwise)),
            values * (2 * 6 + 10 + 8));
  EXPECT_EQ(terms.per_step.launches, 5 + 2 + 2);  // and a cast of each layer's weights
  const NetworkTerms whole = eager_terms(g, {.dtype = Dtype::fp16, .cast_whole = true});
  EXPECT_EQ(whole.per_sample.bytes.at(static_cast<std::size_t>(Traffic::elementwise)), values * (6 + 4));
  EXPECT_EQ(whole.per_step.launches, 5);
}

// A product with a parameter in fp32 is wide; with one number it is as it was.
TEST(EagerTerms, APointwiseOperandWidensUnlessItIsANumber) {
  for (const bool number : {true, false}) {
    Graph g = Graph::reading(Shape::sequence(kTokens, 8));
    const Value x = g.linear("in", 0, 8);
    const Value factor =
        g.append("factor", {}, ParameterOptions{.shape = number ? Shape{1} : Shape{8}, .trained = false});
    g.append("scale", {x, factor}, PointwiseOptions{.function = PointwiseFunction::multiply});
    const EagerTrace trace = eager_trace(g);
    EXPECT_EQ(eager_widths(trace, Dtype::fp16, false).tensors[trace.steps.back().result], number ? 2 : 4);
  }
}

// Gradients of the image are not wanted; micro-batches repeat all but the optimizer's work.
TEST(EagerTerms, OfTraining) {
  Graph g({8, 4, 4});
  g.conv2d("b", g.conv2d("a", g.image(), {.channels = 64}), {.channels = 64});
  const auto point = static_cast<std::size_t>(ProductClass::pointwise);
  const auto weights = static_cast<std::size_t>(Traffic::weights);
  const EagerSetting setting{.dtype = Dtype::fp32, .train = true};
  const NetworkTerms terms = eager_terms(g, setting);
  const double a = 2 * 16 * 64 * (8 + 8);  // the reduction's end is padded by 8
  const double b = 2 * 16 * 64 * (64 + 8);
  EXPECT_EQ(terms.per_sample.flops.at(point), a + b);
  EXPECT_EQ(terms.per_sample.grads.at(point), a + 2 * b);
  EXPECT_EQ(terms.parameters, 64 * 8 + 64 * 64);
  EagerSetting accumulated = setting;
  accumulated.micro_batches = 4;
  const NetworkTerms four = eager_terms(g, accumulated);
  EXPECT_EQ(four.per_step.launches, 4 * terms.per_step.launches);
  EXPECT_EQ(four.per_step.bytes.at(weights) + 3 * 4 * 3 * terms.parameters,
            4 * terms.per_step.bytes.at(weights));  // 3 values of a parameter by SGD, once
  const double input = 8 * 16 * 4;
  EXPECT_EQ(four.peak_bytes_per_sample - input, (terms.peak_bytes_per_sample - input) / 4);
  EXPECT_EQ(four.per_sample.flops, terms.per_sample.flops);
}

// ReLU's result is saved once, though the convolution behind it saves it too; the sum saves nothing.
TEST(EagerMemory, OfTrainingHoldsEachSavedTensorOnce) {
  Graph g({16, 4, 4});
  const double map = 16 * 16 * 4;  // bytes
  const Value x = g.relu("relu", g.conv2d("a", g.image(), {.channels = 16}));
  g.add("add", g.conv2d("b", x, {.channels = 16}), x);
  const EagerTrace trace = eager_trace(g);
  const EagerWidths widths = eager_widths(trace, Dtype::fp32, false);
  // Saved: the image, and ReLU's result. The loss has the network's result and makes three of its size.
  EXPECT_EQ(eager_peak_bytes(trace, widths, true), 2 * map + 4 * map);
}

// Two heads of four features over sequences of eight, and a residual.
Graph small_block() {
  Graph g = Graph::reading(Shape::sequence(kTokens, 8));
  const Value x = g.linear("in", 0, 8);
  const Value heads = g.append("attention", {g.linear("qkv", x, 24)}, AttentionOptions{.heads = 2});
  const Value sum = g.add("sum", g.linear("out", heads, 8), x);
  const Value norm = g.append("norm", {sum}, LayerNormOptions{});
  const Value wide =
      g.append("gelu", {g.linear("up", norm, 32)}, ActivationOptions{.activation = Activation::gelu_erf});
  g.linear("down", wide, 4);
  return g;
}

constexpr CodeForm kFused{};
constexpr CodeForm kEager{.attention = AttentionForm::eager};

double saved_bytes(const CodeForm& code, Dtype dtype, const SavedForms& forms = {}) {
  const EagerTrace trace = eager_trace(small_block(), code);
  return eager_peak_bytes(trace, eager_widths(trace, dtype, false), true, forms);
}

// Between its products the scores are scaled, masked and normalised, and trained with dropout.
TEST(EagerTrace, WrittenOutAttentionIsEachPassOfItsCode) {
  const auto scores_of = [](const CodeForm& code, Dtype dtype) {
    const EagerTrace trace = eager_trace(small_block(), code);
    const EagerWidths widths = eager_widths(trace, dtype, false);
    std::vector<double> written;
    for (const EagerStep& step : trace.steps) {
      if (step.operation.flow.written == 2 * kTokens * kTokens) {
        written.push_back(widths.tensors[step.result]);
      }
    }
    return written;
  };
  EXPECT_THAT(scores_of(kFused, Dtype::fp16), testing::IsEmpty());
  EXPECT_THAT(scores_of(kEager, Dtype::fp16), ElementsAre(2, 2, 2, 4)) << "later positions are hidden";
  const CodeForm trained{.attention = AttentionForm::eager, .masks = true, .dropout = true};
  EXPECT_THAT(scores_of(trained, Dtype::fp16), ElementsAre(2, 2, 2, 4, 4));
  EXPECT_THAT(scores_of(trained, Dtype::fp32), ElementsAre(4, 4, 4, 4, 4));
}

// A mask of padding is in the dtype of the parameters, fp32, and so are the scores after it.
TEST(EagerTrace, AMaskOfPaddingWidensTheScores) {
  Graph g = Graph::reading(Shape::sequence(kTokens, 8));
  g.append("attention", {g.linear("qkv", 0, 24)}, AttentionOptions{.heads = 2, .causal = false});
  for (const bool masks : {false, true}) {
    const EagerTrace trace = eager_trace(g, {.attention = AttentionForm::eager, .masks = masks});
    const EagerWidths widths = eager_widths(trace, Dtype::fp16, false);
    std::vector<double> written;
    for (const EagerStep& step : trace.steps) {
      written.push_back(widths.tensors[step.result]);
    }
    EXPECT_EQ(written,
              masks ? (std::vector<double>{2, 2, 2, 4, 4, 2, 2}) : (std::vector<double>{2, 2, 2, 4, 2, 2}));
  }
}

// What each form saves beyond fused attention without dropout.
TEST(EagerMemory, OfTrainingCountsWhatCodeSaves) {
  const double rows = kTokens * 8;  // values
  const double scores = 2 * kTokens * kTokens;
  const double fused = saved_bytes(kFused, Dtype::fp32);
  const double eager = saved_bytes(kEager, Dtype::fp32);
  const CodeForm eager_dropout{.attention = AttentionForm::eager, .dropout = true};
  EXPECT_EQ(eager - fused, 4 * scores - 4 * rows) << "the softmax's result, and no queries that are scaled";
  EXPECT_EQ(saved_bytes(kEager, Dtype::fp16) - saved_bytes(kFused, Dtype::fp16), (4 + 2) * scores - 2 * rows)
      << "in fp32, and autocast's copy for the product";
  EXPECT_EQ(saved_bytes(eager_dropout, Dtype::fp32) - eager, rows + (1 + 4) * scores)
      << "masks of a byte, and the scores that were not dropped";
  EXPECT_EQ(saved_bytes(eager_dropout, Dtype::fp16) - saved_bytes(kEager, Dtype::fp16), rows + scores)
      << "autocast's copy is of the dropped ones";
  EXPECT_EQ(saved_bytes({.dropout = true}, Dtype::fp32) - fused, rows);
  EXPECT_EQ(saved_bytes(kFused, Dtype::fp32, {.activations = true}) - fused, 2 * 4 * 4 * rows);
  EXPECT_EQ(saved_bytes(kFused, Dtype::fp32, {.norms = true}) - fused, 2 * 4 * rows);
}

// A logarithm of the softmax is saved for each result, however large the vocabulary.
TEST(EagerMemory, OfTrainingHoldsTheLoss) {
  const auto peak = [](std::int64_t vocabulary) {
    Graph g = Graph::reading(Shape::sequence(kTokens, 8));
    g.linear("head", 0, vocabulary);
    const EagerTrace trace = eager_trace(g);
    return eager_peak_bytes(trace, eager_widths(trace, Dtype::fp16, false), true);
  };
  EXPECT_EQ(peak(50000) - peak(40000), kTokens * 10000 * (2 + 3 * 4));
}

// Two blocks between poolings: kept are the values between them, and of a block what its backward pass reads.
TEST(EagerMemory, OfValuesThatAreComputedAgain) {
  Graph g({16, 8, 8});
  Value x = g.image();
  for (const char* const name : {"a", "b", "c"}) {
    x = g.relu(std::string(name) + " relu", g.conv2d(name, x, {.channels = 16, .kernel = 3, .pad = 1}));
    x = g.relu(std::string(name) + " again", g.conv2d(std::string(name) + "2", x, {.channels = 16}));
    x = g.max_pool(std::string(name) + " pool", x, {.kernel = 1, .stride = 1});
  }
  g.linear("head", g.flatten("flat", g.average_pool("mean", x, 1)), 4);
  const auto bytes = [&](bool recompute) {
    EagerSetting setting{.dtype = Dtype::fp32, .train = true};
    setting.recompute = recompute;
    return eager_terms(g, setting);
  };
  EXPECT_LT(bytes(true).peak_bytes_per_sample, 0.8 * bytes(false).peak_bytes_per_sample);
  EXPECT_GT(bytes(true).peak_bytes_per_sample, bytes(false).peak_bytes_per_sample / 3);
  EXPECT_TRUE(bytes(true).computes_again);
  EXPECT_FALSE(bytes(false).computes_again);
}

// Memory and time span both forms, until one is named.
TEST(EagerTerms, SpanTheFormsOfAttention) {
  const EagerSetting unsaid{.dtype = Dtype::fp32, .train = true};
  const auto terms_with = [&](AttentionForm form) {
    EagerSetting setting = unsaid;
    setting.attention = form;
    return eager_terms(small_block(), setting);
  };
  const NetworkTerms both = eager_terms(small_block(), unsaid);
  const NetworkTerms fused = terms_with(AttentionForm::fused);
  const NetworkTerms eager = terms_with(AttentionForm::eager);
  EXPECT_TRUE(both.has_attention);
  EXPECT_FALSE(both.attention);
  EXPECT_EQ(eager.attention, AttentionForm::eager);
  const auto low = [](const NetworkTerms& terms) { return terms.saving.low * terms.peak_bytes_per_sample; };
  const auto high = [](const NetworkTerms& terms) { return terms.saving.high * terms.peak_bytes_per_sample; };
  EXPECT_DOUBLE_EQ(low(both), low(fused));
  EXPECT_DOUBLE_EQ(high(both), high(eager));
  EXPECT_LT(high(fused), low(eager));
  EXPECT_EQ(both.per_sample.bytes, fused.per_sample.bytes) << "its likely time is that of fused attention";
  const auto most_moved = [](const NetworkTerms& terms) {
    return std::accumulate(terms.per_sample.bytes.begin(), terms.per_sample.bytes.end(), 0.0) +
           std::accumulate(terms.added.begin(), terms.added.end(), 0.0);
  };
  EXPECT_DOUBLE_EQ(most_moved(both), most_moved(eager));
  EXPECT_LT(most_moved(fused), most_moved(eager));
  EXPECT_GT(eager.per_step.launches, fused.per_step.launches);
}

// Cross entropy reads and writes each result four times in fp32, and casts it twice under autocast.
TEST(EagerTerms, OfTrainingHaveTheLoss) {
  const auto bytes = [](std::int64_t vocabulary, Dtype dtype, Traffic traffic) {
    Graph g = Graph::reading(Shape::sequence(kTokens, 8));
    g.linear("head", 0, vocabulary);
    const NetworkTerms terms = eager_terms(g, {.dtype = dtype, .train = true});
    return terms.per_sample.bytes.at(static_cast<std::size_t>(traffic));
  };
  const double values = kTokens * 10000;
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    EXPECT_EQ(bytes(50000, dtype, Traffic::norm) - bytes(40000, dtype, Traffic::norm), 16 * values);
    EXPECT_EQ(bytes(50000, dtype, Traffic::elementwise) - bytes(40000, dtype, Traffic::elementwise),
              dtype == Dtype::fp16 ? 12 * values : 0);
  }
}

// GELU by the tangent came to PyTorch after attention that is fused: code that writes that out wrote it out.
// Other code moves less and more.
TEST(EagerTerms, CodeThatWritesAttentionOutWritesGeluOut) {
  const auto moved = [](Activation activation, AttentionForm form, auto part) {
    Graph g = Graph::reading(Shape::sequence(kTokens, 8));
    g.append("gelu", {g.append("attention", {g.linear("qkv", 0, 24)}, AttentionOptions{.heads = 2})},
             ActivationOptions{.activation = activation});
    EagerSetting setting{.dtype = Dtype::fp32};
    setting.attention = form;
    return part(eager_terms(g, setting)).at(static_cast<std::size_t>(Traffic::elementwise));
  };
  const auto likely = [](const NetworkTerms& terms) { return terms.per_sample.bytes; };
  const auto added = [](const NetworkTerms& terms) { return terms.added; };
  const auto spared = [](const NetworkTerms& terms) { return terms.spared; };
  const double values = kTokens * 8;
  const Activation tanh = Activation::gelu;
  const Activation erf = Activation::gelu_erf;
  EXPECT_EQ(moved(tanh, AttentionForm::eager, likely) - moved(erf, AttentionForm::eager, likely),
            4 * 16 * values);
  EXPECT_EQ(moved(tanh, AttentionForm::eager, spared), 4 * 16 * values);
  EXPECT_EQ(moved(erf, AttentionForm::eager, added), 4 * 9 * values);
  for (const Activation& activation : {tanh, erf}) {
    EXPECT_EQ(moved(activation, AttentionForm::fused, spared), 0);
    EXPECT_EQ(moved(activation, AttentionForm::fused, added), 0);
  }
}

TEST(EagerMemory, OfInferenceHoldsWhatIsStillRead) {
  Graph g({16, 4, 4});
  const double map = 16 * 16 * 4;
  const Value a = g.conv2d("a", g.image(), {.channels = 16});
  const Value b = g.relu("b", a);
  const Value c = g.relu("c", b);
  g.add("d", c, a);
  const EagerTrace trace = eager_trace(g);
  const EagerWidths widths = eager_widths(trace, Dtype::fp32, false);
  EXPECT_EQ(eager_peak_bytes(trace, widths, false), 3 * map);  // a, b and c; or a, c and d
}

struct UnsaidOptions {};

class UnsaidLayer final : public LikeItsInput<UnsaidLayer, UnsaidOptions> {
 public:
  using LikeItsInput::LikeItsInput;
  void forward(Recorder& /*recorder*/) const override {}
};

const LayerRegistration<UnsaidOptions, UnsaidLayer> BENCH_REGISTERED{"unsaid_of_a_test"};

TEST(EagerTerms, NameLayersThatDidNotSayTheirOperations) {
  Graph g({8, 4, 4});
  g.append("unsaid", {g.relu("relu", g.image())}, UnsaidOptions{});
  const NetworkTerms terms = eager_terms(g, {.dtype = Dtype::fp32});
  EXPECT_THAT(terms.unknown, ElementsAre("unsaid_of_a_test"));
  EXPECT_EQ(terms.unknown_share, 0.5);
}

}  // namespace
}  // namespace bench::kernels
