// Parameters, attributes and multiply-adds of a file, which its network has too.
#include "kernels/networks/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/imported_answers.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

// Both have the empty name.
TEST(Import, AResultThatIsNotGivenIsNoInputThatIsNot) {
  OnnxWriter net;
  net.input("x", {-1, 3, 8, 8});
  net.floats("six", {}, {6});
  net.node("MaxPool", {"x"}, {"p", ""}, {written::ints("kernel_shape", {2, 2})});
  net.node("Clip", {"p", "", "six"}, {"y"});
  net.output("y");
  EXPECT_EQ(output_shape(imported(net)), Shape::maps(3, 7, 7));
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

struct KnownFile {
  const char* name;
  double gmacs;
  std::int64_t parameters;
  std::string output;
};

// Multiply-adds and trained parameters as counted from the files: see data/README.md.
// Of 32 heads over a context of 8,192 tokens. Each score is scaled once: not as many times as there are
// scores.
TEST(Import, CountsTheScoresOfALongContext) {
  constexpr std::int64_t kHeads = 32;
  constexpr std::int64_t kTokens = 8192;
  constexpr std::int64_t kFeatures = 128;
  OnnxWriter net;
  net.input("q", {-1, kHeads, kTokens, kFeatures});
  net.input("k", {-1, kHeads, kFeatures, kTokens});
  net.node("MatMul", {"q", "k"}, {"scores"});
  net.node("Mul", {"scores", "scores"}, {"squared"});
  net.node("Softmax", {"squared"}, {"y"}, {written::i("axis", -1)});
  net.output("y");
  EXPECT_EQ(imported(net).graph.macs(), kHeads * kTokens * kTokens * kFeatures);
}

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

}  // namespace
}  // namespace bench::kernels::onnx
