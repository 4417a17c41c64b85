// Networks as they are exported: shapes, and answers against the reference.
#include "tests/kernels/networks/onnx/imported_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/networks/onnx/import.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::UnorderedElementsAre;

// The layers of a kind.
std::int64_t count(const ImportedNetwork& network, std::string_view kind) {
  return std::ranges::count_if(network.graph.nodes(), [&](const auto& node) { return node.is(kind); });
}

// Blocks that multiply two convolutions of their input, as StarNet does, whose norms were folded away.
OnnxWriter multiplying(int blocks, const char* activation) {
  OnnxWriter net;
  net.input("x0", {1, 8, 6, 6});
  for (int i = 0; i < blocks; ++i) {
    const auto named = [&](const char* name) { return name + std::to_string(i); };
    for (const char* const conv : {"f", "g", "h"}) {
      net.weight(named(conv) + ".weight", {8, 8, 1, 1});
    }
    const std::string x = named("x");
    net.node("Conv", {x, named("f") + ".weight"}, {named("f")});
    net.node("Conv", {x, named("g") + ".weight"}, {named("g")});
    net.node(activation, {named("f")}, {named("a")});
    net.node("Mul", {named("a"), named("g")}, {named("m")});
    net.node("Conv", {named("m"), named("h") + ".weight"}, {named("h")});
    net.node("Add", {x, named("h")}, {"x" + std::to_string(i + 1)});
  }
  net.output("x" + std::to_string(blocks));
  return net;
}

TEST_F(ImportedAnswers, ProductsOfMapsStayInRange) {
  const ImportedNetwork network = imported(multiplying(16, "Relu"));
  expect_like_reference(network);
  const std::vector<Sample> samples{seeded_sample(network.graph, 1, 0)};
  const auto answers = reference_outputs(network.graph, samples, 1);
  for (const float value : answers.front()) {
    EXPECT_LT(std::abs(value), 100);
  }
  const auto lowest_gain = [](const ImportedNetwork& one) {
    double lowest = 1;
    for (const auto& node : one.graph.nodes()) {
      const auto* const conv = options_of<ConvOptions>(node);
      lowest = conv != nullptr ? std::min(lowest, conv->gain) : lowest;
    }
    return lowest;
  };
  EXPECT_LT(lowest_gain(network), 0.1);
  EXPECT_EQ(lowest_gain(imported(multiplying(2, "Sigmoid"))), 1);  // a gate shrinks what it multiplies
}

// A transformer's block as PyTorch exports it: qkv split by a transposition, a mask, residual sums, GELU.
OnnxWriter transformer() {
  OnnxWriter net;
  net.input("input_ids", {-1, 6}, ElementType::i64);
  net.input("attention_mask", {-1, 6}, ElementType::i64);
  net.weight("tokens.weight", {50, 16});
  net.weight("positions.weight", {8, 16});
  net.weight("norm.weight", {16});
  net.weight("norm.bias", {16});
  net.weight("qkv", {16, 48});
  net.weight("qkv.bias", {48});
  net.weight("out", {16, 16});
  net.weight("head.weight", {5, 16});
  net.weight("head.bias", {5});
  net.integers("places", {1, 6}, {0, 1, 2, 3, 4, 5});
  net.node("Gather", {"tokens.weight", "input_ids"}, {"embedded"});
  net.node("Gather", {"positions.weight", "places"}, {"placed"});
  net.node("Add", {"embedded", "placed"}, {"sum"});
  net.node("LayerNormalization", {"sum", "norm.weight", "norm.bias"}, {"h"}, {written::f("epsilon", 0.01F)});
  net.node("MatMul", {"h", "qkv"}, {"product"});
  net.node("Add", {"product", "qkv.bias"}, {"all"});
  net.node("Shape", {"h"}, {"shape"});
  net.integers("zero", {}, {0});
  net.node("Gather", {"shape", "zero"}, {"batch"});
  net.integers("first", {1}, {0});
  net.node("Unsqueeze", {"batch", "first"}, {"batches"});
  net.integers("rest", {4}, {-1, 3, 2, 8});
  net.node("Concat", {"batches", "rest"}, {"heads"}, {written::i("axis", 0)});
  net.node("Reshape", {"all", "heads"}, {"apart"});
  net.node("Transpose", {"apart"}, {"three"}, {written::ints("perm", {2, 0, 3, 1, 4})});
  net.node("Split", {"three"}, {"q1", "k1", "v1"}, {written::i("axis", 0)});
  for (const char* name : {"q", "k", "v"}) {
    net.node("Squeeze", {name + std::string("1"), "first"}, {name});
  }
  net.node("Transpose", {"k"}, {"kt"}, {written::ints("perm", {0, 1, 3, 2})});
  net.node("MatMul", {"q", "kt"}, {"scores"});
  net.floats("root", {}, {2.8284271F});
  net.node("Div", {"scores", "root"}, {"scaled"});
  net.integers("one_and_two", {2}, {1, 2});
  net.node("Unsqueeze", {"attention_mask", "one_and_two"}, {"mask"});
  net.node("Cast", {"mask"}, {"floats"}, {written::i("to", 1)});
  net.floats("one", {}, {1});
  net.floats("low", {}, {-1e9F});
  net.node("Sub", {"one", "floats"}, {"hidden"});
  net.node("Mul", {"hidden", "low"}, {"bias"});
  net.node("Add", {"scaled", "bias"}, {"masked"});
  net.node("Softmax", {"masked"}, {"weights"}, {written::i("axis", -1)});
  net.node("MatMul", {"weights", "v"}, {"context"});
  net.node("Transpose", {"context"}, {"turned"}, {written::ints("perm", {0, 2, 1, 3})});
  net.integers("joined", {3}, {0, 0, 16});
  net.node("Reshape", {"turned", "joined"}, {"merged"});
  net.node("MatMul", {"merged", "out"}, {"projected"});
  net.node("Add", {"h", "projected"}, {"residual"});
  net.node("Gelu", {"residual"}, {"active"});
  net.node("Gather", {"active", "zero"}, {"pooled"}, {written::i("axis", 1)});
  net.node("Gemm", {"pooled", "head.weight", "head.bias"}, {"y"}, {written::i("transB", 1)});
  net.opset(20);
  net.output("y");
  net.output("residual");
  return net;
}

TEST_F(ImportedAnswers, OfATransformer) {
  const ImportedNetwork network = imported(transformer());
  EXPECT_EQ(network.graph.tokens()->vocabulary, 50);
  EXPECT_EQ(output_shape(network), (Shape{kBatch, 5}));
  EXPECT_EQ(network.graph.parameter_count(), 50 * 16 + 8 * 16 + 32 + 16 * 48 + 48 + 256 + 85);
  EXPECT_EQ(network.graph.macs(), 6 * 16 * 48 + 2 * 2 * 6 * 6 * 8 + 6 * 256 + 80);
  EXPECT_THAT(network.inputs, Contains(Field(&ImportedInput::content, "ones (a mask)")));
  EXPECT_THAT(network.assumptions, Contains("The output 'residual' is not computed."));
  EXPECT_EQ(count(network, "pointwise"), 1);  // the positions; the mask adds nothing
  expect_like_reference(network);
}

// Windows: the batch is a factor of a dimension that the file fixes.
TEST_F(ImportedAnswers, OfWindowsThatHoldTheBatch) {
  OnnxWriter net;
  net.input("x", {1, 8, 8, 6});
  net.integers("cut", {6}, {1, 2, 4, 2, 4, 6});
  net.integers("windows", {3}, {4, 16, 6});
  net.integers("back", {6}, {1, 2, 2, 4, 4, 6});
  net.integers("whole", {4}, {1, 8, 8, 6});
  net.weight("w", {6, 6});
  net.node("Reshape", {"x", "cut"}, {"a"});
  net.node("Transpose", {"a"}, {"b"}, {written::ints("perm", {0, 1, 3, 2, 4, 5})});
  net.node("Reshape", {"b", "windows"}, {"c"});
  net.node("MatMul", {"c", "w"}, {"d"});
  net.node("Transpose", {"d"}, {"dt"}, {written::ints("perm", {0, 2, 1})});
  net.node("MatMul", {"d", "dt"}, {"e"});
  net.node("MatMul", {"e", "d"}, {"f"});
  net.node("Reshape", {"f", "back"}, {"g"});
  net.node("Transpose", {"g"}, {"h"}, {written::ints("perm", {0, 1, 3, 2, 4, 5})});
  net.node("Reshape", {"h", "whole"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_EQ(network.graph[network.values.at("e")].shape, (Shape{{4, true}, 16, 16}));
  EXPECT_EQ(output_shape(network), (Shape{kBatch, 8, 8, 6}));
  expect_like_reference(network);
}

// A class token and factors that do not depend on the batch, split, slices, padding and a resize.
TEST_F(ImportedAnswers, OfCopies) {
  OnnxWriter net;
  net.input("x", {-1, 4, 6, 6});
  net.weight("cls", {1, 1, 4});
  net.weight("gamma", {4});
  net.integers("pads", {8}, {0, 0, 1, 0, 0, 0, 0, 1});
  net.integers("sizes", {4}, {1, 4, 10, 10});
  net.integers("one", {1}, {1});
  net.integers("flat", {3}, {0, 4, -1});
  net.integers("starts", {1}, {-2});
  net.integers("ends", {1}, {-100});
  net.integers("axes", {1}, {1});
  net.integers("steps", {1}, {-3});
  net.weight("conv", {4, 4, 3, 3});
  net.node("Pad", {"x", "pads"}, {"padded"});
  net.node("Conv", {"padded", "conv"}, {"c"});
  net.node("Resize", {"c", "", "", "sizes"}, {"large"},
           {written::s("mode", "linear"), written::s("coordinate_transformation_mode", "half_pixel")});
  net.node("Split", {"large"}, {"l", "r"}, {written::i("axis", 3)});
  net.node("Mul", {"l", "r"}, {"gated"});
  net.node("Reshape", {"gated", "flat"}, {"rows"});
  net.node("Transpose", {"rows"}, {"tokens"}, {written::ints("perm", {0, 2, 1})});
  net.node("Mul", {"tokens", "gamma"}, {"scaled"});
  net.node("Shape", {"x"}, {"shape"}, {written::i("start", 0), written::i("end", 1)});
  net.node("Concat", {"shape", "one", "one"}, {"times"}, {written::i("axis", 0)});
  net.node("Tile", {"cls", "times"}, {"classes"});
  net.node("Concat", {"classes", "scaled"}, {"joined"}, {written::i("axis", 1)});
  net.node("Slice", {"joined", "starts", "ends", "axes", "steps"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_EQ(count(network, "pad"), 0);  // it is the convolution's
  EXPECT_EQ(output_shape(network), (Shape{kBatch, 17, 4}));
  expect_like_reference(network);
}

// A detector's mask has its samples behind a first dimension of one.
TEST(Import, ResizesWhatIsAlikeEverywhere) {
  OnnxWriter net;
  net.input("x", {-1, 6});
  net.integers("sizes", {3}, {1, 1, 6});
  net.integers("front", {1}, {0});
  net.node("Shape", {"x"}, {"shape"});
  net.node("ConstantOfShape", {"shape"}, {"zeros"});
  net.node("Cos", {"zeros"}, {"ones"});
  net.node("Unsqueeze", {"ones", "front"}, {"mask"});
  net.integers("half", {3}, {1, 1, 3});
  net.node("Resize", {"mask", "", "", "half"}, {"less"});
  net.node("Resize", {"less", "", "", "sizes"}, {"again"});
  net.node("Squeeze", {"again", "front"}, {"flat"});
  net.node("Add", {"x", "flat"}, {"y"});
  net.output("y");
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 6}));
}

// Before opset 7 an axis says where the second input's dimensions begin.
TEST_F(ImportedAnswers, OfDimensionsThatMeetAtAnAxis) {
  OnnxWriter net;
  net.opset(6);
  net.input("x", {-1, 4, 4, 4});
  net.weight("scale", {4});
  net.weight("map", {4, 4});
  net.node("Mul", {"x", "scale"}, {"scaled"}, {written::i("broadcast", 1), written::i("axis", 1)});
  net.node("Add", {"scaled", "map"}, {"y"}, {written::i("broadcast", 1), written::i("axis", 1)});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_EQ(network.graph.parameter_count(), 4 + 16);
  std::vector<std::string> shapes;
  for (const ParameterSource& source : network.parameters) {
    shapes.push_back(network.graph[source.layer].shape.text());
  }
  EXPECT_THAT(shapes, UnorderedElementsAre("4 x 1 x 1", "4 x 4 x 1"));
  expect_like_reference(network);
}

// PRelu's slopes belonged to channels then, also where the width has as many columns.
TEST_F(ImportedAnswers, OfSlopesOfChannels) {
  OnnxWriter net;
  net.opset(6);
  net.input("x", {-1, 4, 4, 4});
  net.weight("slope", {4});
  net.node("PRelu", {"x", "slope"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  ASSERT_EQ(network.parameters.size(), 1U);
  EXPECT_EQ(network.graph[network.parameters[0].layer].shape.text(), "4 x 1 x 1");
  expect_like_reference(network);
}

}  // namespace
}  // namespace bench::kernels::onnx
