// Networks of ONNX files as layers: shapes, parameters and multiply-adds, and answers against the reference.
#include "kernels/networks/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/workloads/network/reference.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The layers of a kind.
std::int64_t count(const ImportedNetwork& network, std::string_view kind) {
  return std::ranges::count_if(network.graph.nodes(), [&](const auto& node) { return node.is(kind); });
}

class ImportedAnswers : public NetworkTest {
 protected:
  // The answer of three samples by the device's implementations is the reference's, and depends on the input.
  void expect_like_reference(const ImportedNetwork& network, double tolerance = 2e-5) {
    const bench::kernels::Graph& graph = network.graph;
    const std::vector<Sample> samples{seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1),
                                      seeded_sample(graph, 1, 2)};
    const auto expected = reference_outputs(graph, samples, 1);
    EXPECT_GT(relative_error(expected[1], expected[0]), 1e-3);
    Target target;
    target.batch = 3;
    target.layouts = layouts_for(*device_, Dtype::fp32);
    ProgramRunner runner(plan_inference(fuse_for_inference(graph), target, *device_), *device_, 1);
    runner.set_input(samples);
    poison_step(runner, *device_);
    runner.run();
    const std::vector<float> found = runner.output();
    const std::size_t each = expected[0].size();
    ASSERT_EQ(found.size(), 3 * each);
    for (std::size_t sample = 0; sample < 3; ++sample) {
      EXPECT_LT(relative_error(std::span(found).subspan(sample * each, each), expected[sample]), tolerance);
    }
  }
};

// A convolution with its batch norm, pooling and a linear layer, at a fixed batch that a Reshape holds too.
OnnxWriter classifier(std::int64_t batch) {
  OnnxWriter net;
  net.input("x", {batch, 3, 8, 8});
  net.weight("conv.weight", {20, 3, 3, 3});
  for (const char* name : {"bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"}) {
    net.weight(name, {20});
  }
  net.weight("fc.weight", {10, 80});
  net.weight("fc.bias", {10});
  net.integers("flat", {2}, {batch, 80});
  net.node("Conv", {"x", "conv.weight"}, {"c"}, {written::ints("pads", {1, 1, 1, 1})});
  net.node("BatchNormalization", {"c", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"}, {"n"},
           {written::f("epsilon", 0.25F)});
  net.node("Relu", {"n"}, {"r"});
  net.node("AveragePool", {"r"}, {"p"},
           {written::ints("kernel_shape", {4, 4}), written::ints("strides", {4, 4})});
  net.node("Reshape", {"p", "flat"}, {"f"});
  net.node("Gemm", {"f", "fc.weight", "fc.bias"}, {"y"}, {written::i("transB", 1)});
  net.output("y");
  return net;
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

TEST_F(ImportedAnswers, OfAClassifierAtAnyBatch) {
  for (const std::int64_t batch : {1, 4}) {
    SCOPED_TRACE(batch);
    const ImportedNetwork network = imported(classifier(batch));
    EXPECT_EQ(output_shape(network), (Shape{kBatch, 10}));
    EXPECT_EQ(network.graph.parameter_count(), 20 * 27 + 2 * 20 + 10 * 80 + 10);
    EXPECT_EQ(network.graph.macs(), 64 * 20 * 27 + 10 * 80);
    EXPECT_EQ(network.inputs.at(0).shape, "batch x 3 x 8 x 8");
    expect_like_reference(network);
  }
}

// Epsilon is large, so that an answer with another one would differ.
TEST(Import, ReadsAttributes) {
  const ImportedNetwork network = imported(classifier(1));
  const auto norm =
      std::ranges::find_if(network.graph.nodes(), [](const auto& node) { return node.is("batch_norm"); });
  ASSERT_NE(norm, network.graph.nodes().end());
  EXPECT_EQ(options_of<BatchNormOptions>(*norm)->epsilon, 0.25F);
}

TEST(Import, NamesTheInitializerOfEachParameter) {
  const ImportedNetwork network = imported(classifier(1));
  const auto of = [&](const std::string& initializer) {
    const auto at = std::ranges::find(network.parameters, initializer, &ParameterSource::initializer);
    EXPECT_NE(at, network.parameters.end()) << initializer;
    return *at;
  };
  EXPECT_THAT(network.parameters, SizeIs(7));
  EXPECT_EQ(network.graph[of("conv.weight").layer].name, "conv");
  EXPECT_EQ(of("bn.running_var").slot, Slot::variance);
  EXPECT_EQ(of("fc.bias").slot, Slot::bias);
  EXPECT_FALSE(of("fc.weight").transposed);
  EXPECT_EQ(network.graph[network.values.at("c")].name, "conv");
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

// A mask of floats is ones; the batch is that of the tokens, not the mask's.
TEST_F(ImportedAnswers, OfTokensWithAMaskOfFloats) {
  OnnxWriter net;
  net.input("ids", {1, 6}, ElementType::i64);
  net.input("attention_mask", {1, 6});
  net.weight("table", {50, 4});
  net.integers("last", {1}, {-1});
  net.node("Gather", {"table", "ids"}, {"words"});
  net.node("Unsqueeze", {"attention_mask", "last"}, {"mask"});
  net.node("Mul", {"words", "mask"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_EQ(network.graph.tokens()->vocabulary, 50);
  EXPECT_THAT(network.inputs, Contains(Field(&ImportedInput::content, "ones (a mask)")));
  expect_like_reference(network);
}

// Padding is hidden by a mask, and a text ends where its largest id is: texts are drawn for both.
TEST_F(ImportedAnswers, OfTokensThatAreComparedWithOne) {
  OnnxWriter net;
  net.input("ids", {1, 6}, ElementType::i64);
  net.weight("table", {50, 4});
  net.integers("padding", {}, {3});
  net.floats("one", {}, {1});
  net.node("Gather", {"table", "ids"}, {"words"});
  net.node("Equal", {"ids", "padding"}, {"is_padding"});
  net.node("Cast", {"is_padding"}, {"hidden"}, {written::i("to", 1)});
  net.node("Sub", {"one", "hidden"}, {"seen"});
  net.integers("last", {1}, {-1});
  net.node("Unsqueeze", {"seen", "last"}, {"mask"});
  net.node("Mul", {"words", "mask"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_THAT(network.graph.tokens()->absent, ::testing::ElementsAre(3));
  EXPECT_THAT(network.assumptions, Contains("No token has the id 3, as padding would."));
  expect_like_reference(network);
}

TEST_F(ImportedAnswers, OfATextThatEndsAtItsLargestToken) {
  OnnxWriter net;
  net.input("ids", {1, 6}, ElementType::i64);
  net.weight("table", {50, 4});
  net.node("Gather", {"table", "ids"}, {"words"});
  net.node("ArgMax", {"ids"}, {"end"}, {written::i("axis", -1), written::i("keepdims", 1)});
  net.integers("places", {1, 6}, {0, 1, 2, 3, 4, 5});
  net.node("Equal", {"places", "end"}, {"is_end"});
  net.node("Cast", {"is_end"}, {"ends"}, {written::i("to", 1)});
  net.integers("last", {1}, {-1});
  net.integers("along", {1}, {1});
  net.node("Unsqueeze", {"ends", "last"}, {"mask"});
  net.node("Mul", {"words", "mask"}, {"kept"});
  net.node("Add", {"kept", "words"}, {"both"});  // all texts end alike
  net.node("ReduceSum", {"both", "along"}, {"y"}, {written::i("keepdims", 0)});
  net.output("y");
  net.opset(13);
  const ImportedNetwork network = imported(net);
  EXPECT_TRUE(network.graph.tokens()->largest_is_last);
  EXPECT_THAT(network.assumptions, Contains("The largest token id of a text is its last, and drawn so."));
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

// Constants that nothing reads any more make room: five million elements here, of which two million are held
// at once.
TEST(Import, DropsConstantsBehindTheirLastReader) {
  OnnxWriter net;
  net.input("x", {-1, 1});
  net.integers("from", {}, {0});
  net.integers("to", {}, {1'000'000});
  net.integers("by", {}, {1});
  net.integers("last", {1}, {999'999});
  std::string sum = "x";
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    net.node("Range", {"from", "to", "by"}, {"counted" + n});
    net.node("Gather", {"counted" + n, "last"}, {"one" + n});
    net.node("Cast", {"one" + n}, {"number" + n}, {written::i("to", 1)});
    net.node("Add", {sum, "number" + n}, {"sum" + n});
    sum = "sum" + n;
  }
  net.node("Relu", {sum}, {"y"});
  net.output("y");
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 1}));
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
  EXPECT_THAT(shapes, ::testing::UnorderedElementsAre("4 x 1 x 1", "4 x 4 x 1"));
  expect_like_reference(network);
}

// A weight that is looked up by tokens, and multiplied transposed by two layers: one parameter.
TEST_F(ImportedAnswers, OfSharedWeights) {
  OnnxWriter net;
  net.input("ids", {-1, 4}, ElementType::i64);
  net.weight("table", {12, 8});
  net.weight("w", {8, 8});
  net.weight("b", {8});
  net.node("Gather", {"table", "ids"}, {"a"});
  net.node("Identity", {"w"}, {"w2"});
  net.node("MatMul", {"a", "w"}, {"m1"});
  net.node("Add", {"m1", "b"}, {"s1"});
  net.node("Relu", {"s1"}, {"c"});
  net.node("MatMul", {"c", "w2"}, {"m2"});
  net.node("Transpose", {"table"}, {"tableT"}, {written::ints("perm", {1, 0})});
  net.node("MatMul", {"m2", "tableT"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_EQ(network.graph.parameter_count(), 12 * 8 + 8 * 8 + 8);
  expect_like_reference(network);
}

struct KnownFile {
  const char* name;
  double gmacs;
  std::int64_t parameters;
  std::string output;
};

// Multiply-adds and trained parameters as counted from the files: see data/README.md.
TEST(Import, CountsFilesAsTheyAre) {
  const std::vector<KnownFile> files{
      {"resnet18", 0.9258, 11'684'712, "batch x 1000"},
      {"tv_alexnet", 0.7142, 61'100'840, "batch x 1000"},
      {"efficientnet_b0", 0.3858, 5'267'540, "batch x 1000"},
      {"light_squeezenet", 0.3492, 1'235'496, "batch x 1000 x 1 x 1"},
      {"dyn_distilbert-base", 5.5868, 66'362'880, "batch x 128 x 768"},
      {"dyn_swin_tiny_patch4_window7_224", 4.4906, 28'817'262, "batch x 1000"},
  };
  for (const KnownFile& file : files) {
    SCOPED_TRACE(file.name);
    const std::string path = data_path(file.name + std::string(".onnx"));
    const ImportedNetwork network = import_network(path, {});
    EXPECT_NEAR(static_cast<double>(network.graph.macs()) / 1e9, file.gmacs, 1e-4);
    EXPECT_EQ(network.graph.parameter_count(), file.parameters);
    EXPECT_EQ(output_shape(network).text(), file.output);
    EXPECT_THAT(unsupported_nodes(path, {}).nodes, IsEmpty());
    EXPECT_THAT(network.name, HasSubstr(file.name + std::string("-")));
  }
}

TEST(Import, FreeSizesAreAskedFor) {
  OnnxWriter net;
  net.input("images", {-1, 3, -1, -1});
  net.node("Relu", {"images"}, {"y"});
  net.output("y");
  EXPECT_THAT(import_refusal(net), HasSubstr("--input images=1x3x224x224"));
  EXPECT_THAT(import_refusal(net, {.inputs = {{"image", {1, 3, 9, 9}}}}),
              HasSubstr("its inputs are 'images'"));
  EXPECT_THAT(import_refusal(net, {.inputs = {{"images", {1, 9, 9}}}}), HasSubstr("3 sizes were given"));
  EXPECT_THAT(import_refusal(net, {.inputs = {{"images", {1, 4, 9, 9}}}}), HasSubstr("the file fixes"));
  EXPECT_THAT(import_refusal(net, {.inputs = {{"images", {5, 3, 9, 9}}}}),
              HasSubstr("--input images: the first size is 5; accepted: 1, for one sample"));
  const ImportedNetwork network = imported(net, {.inputs = {{"images", {1, 3, 9, 7}}}});
  EXPECT_EQ(output_shape(network), (Shape{kBatch, 3, 9, 7}));
}

}  // namespace
}  // namespace bench::kernels::onnx
