// What the importer refuses or assumes, and how it says so.
#include "kernels/networks/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// One node after a convolution that is as it should be.
std::string refused_node(const std::string& op, const std::vector<std::string>& more = {},
                         const std::vector<std::string>& attributes = {}) {
  OnnxWriter net;
  net.input("x", {2, 4, 6, 6});
  net.weight("w", {4, 4, 1, 1});
  net.integers("zero", {}, {0});
  net.integers("huge", {}, {1'000'000'000'000});
  net.integers("one", {1}, {1});
  net.integers("two", {1}, {2});
  net.integers("zeros", {1}, {0});
  net.node("Conv", {"x", "w"}, {"c"});
  std::vector<std::string> inputs{"c"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  net.node(op, inputs, {"y"}, attributes);
  net.output("y");
  return import_refusal(net);
}

// The first `end` samples of a batch that the file gives as `batch`; -1: any.
std::string refusal_of_first(std::int64_t batch, std::int64_t end) {
  OnnxWriter net;
  net.input("x", {batch, 3, 4});
  net.integers("zeros", {1}, {0});
  net.integers("end", {1}, {end});
  net.node("Relu", {"x"}, {"r"});
  net.node("Slice", {"r", "zeros", "end", "zeros"}, {"first"});
  net.node("Sub", {"r", "first"}, {"y"});
  net.output("y");
  return import_refusal(net);
}

TEST(Import, TheFirstSamplesAreABatchOnlyWhereTheFileHasNoMore) {
  expect_words(refusal_of_first(4, 1));
  expect_words(refusal_of_first(4, 2));
  expect_words(refusal_of_first(-1, 1));
  EXPECT_EQ(refusal_of_first(4, 4), "imported");
  EXPECT_EQ(refusal_of_first(1, 1), "imported");
  EXPECT_EQ(refusal_of_first(-1, INT64_MAX), "imported");
}

// A target without the batch is of each sample. Where the file has any number of samples, that is told.
TEST(Import, TellsOfAReshapeThatLeavesNoRoomForTheBatch) {
  for (const std::int64_t batch : {-1, 1}) {
    OnnxWriter net;
    net.input("x", {batch, 3, 4});
    net.integers("row", {2}, {1, -1});
    net.integers("rows", {2}, {-1, 12});
    net.node("Relu", {"x"}, {"r"});
    net.node("Reshape", {"r", "rows"}, {"f"});
    net.node("Reshape", {"f", "row"}, {"y"});
    net.output("y");
    EXPECT_EQ(imported(net).assumptions.size(), batch == 1 ? 0U : 1U);
    if (batch == -1) {
      EXPECT_THAT(
          imported(net).assumptions,
          ElementsAre("Samples are reshaped one by one by 'y': its sizes leave no room for a batch."));
    }
  }
}

// One-hot rows of token ids would be a table's; nothing else says which ids a text may have.
TEST(Import, RefusesTokensComparedWithSeveralNumbers) {
  OnnxWriter net;
  net.input("ids", {1, 6}, ElementType::i64);
  net.weight("table", {50, 4});
  net.integers("all", {6}, {0, 1, 2, 3, 4, 5});
  net.node("Gather", {"table", "ids"}, {"words"});
  net.node("Equal", {"ids", "all"}, {"same"});
  net.node("Cast", {"same"}, {"floats"}, {written::i("to", 1)});
  net.integers("last", {1}, {-1});
  net.node("Unsqueeze", {"floats", "last"}, {"mask"});
  net.node("Mul", {"words", "mask"}, {"y"});
  net.output("y");
  expect_words(import_refusal(net));
}

// The largest id is the last of a whole text; of a part of it nothing says where.
TEST(Import, RefusesThePlaceOfTheLargestTokenOfAPart) {
  OnnxWriter net;
  net.input("ids", {1, 6}, ElementType::i64);
  net.weight("table", {50, 4});
  net.integers("zero", {1}, {0});
  net.integers("five", {1}, {5});
  net.integers("one", {1}, {1});
  net.node("Gather", {"table", "ids"}, {"words"});
  net.node("Slice", {"ids", "zero", "five", "one"}, {"part"});
  net.node("ArgMax", {"part"}, {"end"}, {written::i("axis", -1), written::i("keepdims", 0)});
  net.node("Gather", {"words", "end"}, {"y"}, {written::i("axis", 1)});
  net.output("y");
  expect_words(import_refusal(net));
}

// 259 as a byte is 3.
TEST(Import, RefusesTokensInNumbersThatDoNotHoldThem) {
  const auto cast_to = [](std::int64_t type, std::int64_t vocabulary) {
    OnnxWriter net;
    net.input("ids", {1, 6}, ElementType::i64);
    net.weight("table", {vocabulary, 4});
    net.integers("padding", {}, {3});
    net.integers("last", {1}, {-1});
    net.node("Gather", {"table", "ids"}, {"words"});
    net.node("Cast", {"ids"}, {"narrow"}, {written::i("to", type)});
    net.node("Cast", {"padding"}, {"three"}, {written::i("to", type)});
    net.node("Equal", {"narrow", "three"}, {"same"});
    net.node("Cast", {"same"}, {"floats"}, {written::i("to", 1)});
    net.node("Unsqueeze", {"floats", "last"}, {"mask"});
    net.node("Mul", {"words", "mask"}, {"y"});
    net.output("y");
    return import_refusal(net);
  };
  constexpr auto kByte = static_cast<std::int64_t>(ElementType::u8);
  expect_words(cast_to(kByte, 300));
  EXPECT_EQ(cast_to(kByte, 256), "imported");
  EXPECT_EQ(cast_to(static_cast<std::int64_t>(ElementType::i32), 300), "imported");
}

TEST(Import, RefusesPairsOfSamples) {
  for (const std::int64_t batch : {-1, 1, 4}) {
    OnnxWriter net;
    net.input("x", {batch, 4});
    net.integers("zero", {1}, {0});
    net.integers("one", {1}, {1});
    net.node("Relu", {"x"}, {"r"});
    net.node("Unsqueeze", {"r", "zero"}, {"a"});
    net.node("Unsqueeze", {"r", "one"}, {"b"});
    net.node("Sub", {"a", "b"}, {"y"});
    net.output("y");
    expect_words(import_refusal(net));
  }
}

// Beside any number of samples, an input of one row is the same for all; beside one sample it may be its own.
TEST(Import, AnInputOfOneRowIsForAllSamples) {
  OnnxWriter net;
  net.input("x", {-1, 3, 4});
  net.input("scale", {1});
  net.node("Relu", {"x"}, {"r"});
  net.node("Mul", {"r", "scale"}, {"y"});
  net.output("y");
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 3, 4}));
}

TEST(Import, RefusesToSqueezeABatch) {
  expect_words(refused_node("Squeeze", {"zeros"}));
}

TEST(Import, LogicIsOfBooleans) {
  expect_words(refused_node("Not"));
  expect_words(refused_node("And", {"c"}));
}

// A table is looked up by them, and something else computes with them.
TEST(Import, RefusesToComputeWithTokenIds) {
  const auto refusal = [](const std::string& op, const std::vector<std::string>& more) {
    OnnxWriter net;
    net.input("ids", {-1, 6}, ElementType::i64);
    net.weight("table", {50, 4});
    net.integers("three", {}, {3});
    net.integers("first", {1}, {5});
    net.integers("end", {1}, {-100});
    net.integers("axis", {1}, {1});
    net.integers("back", {1}, {-1});
    net.node("Gather", {"table", "ids"}, {"rows"});
    std::vector<std::string> inputs{"ids"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    net.node(op, inputs, {"other"});
    net.node("Gather", {"table", "other"}, {"others"});
    net.node("Add", {"rows", "others"}, {"y"});
    net.output("y");
    return import_refusal(net);
  };
  for (const char* op : {"Less", "Max", "PRelu"}) {
    expect_words(refusal(op, {"three"}));
  }
  expect_words(refusal("Slice", {"first", "end", "axis", "back"}));
}

TEST(Import, RefusesToDivideWholeNumbersOfData) {
  OnnxWriter net;
  net.input("x", {-1, 3, 4});
  net.floats("zero", {}, {0});
  net.integers("two", {}, {2});
  net.node("Greater", {"x", "zero"}, {"positive"});
  net.node("Cast", {"positive"}, {"ones"}, {written::i("to", 7)});
  net.node("Div", {"ones", "two"}, {"halves"});
  net.node("Cast", {"halves"}, {"y"}, {written::i("to", 1)});
  net.output("y");
  expect_words(import_refusal(net));
}

TEST(Import, RefusesWithNodeOperatorReasonAndShare) {
  const std::string unknown = refused_node("Frobnicate");
  expect_words(unknown);
  expect_words(refused_node("ReduceMean", {}, {written::ints("axes", {0})}));
  expect_words(refused_node("Softmax", {}, {written::i("axis", 0)}));
  expect_words(refused_node("Gather", {"zero"}, {written::i("axis", 0)}));
  expect_words(refused_node("Reshape", {"c"}));
  expect_words(refused_node("Slice", {"one", "two", "zeros"}));
  expect_words(refused_node("Transpose", {}, {written::ints("perm", {0, 1, 1, 2})}));
}

TEST(Import, RefusesAttributesThatMeanNothing) {
  expect_words(refused_node("GroupNormalization"));
  expect_words(refused_node("GroupNormalization", {}, {written::i("num_groups", 0)}));
  expect_words(refused_node("DepthToSpace", {}, {written::i("blocksize", 2), written::s("mode", "XYZ")}));
  expect_words(refused_node("Gelu", {}, {written::s("approximate", "zzz")}));
  expect_words(refused_node("Resize", {}, {written::s("nearest_mode", "bogus")}));
  expect_words(refused_node("Split", {}, {written::i("axis", 1), written::i("num_outputs", 0)}));
}

TEST(Import, RefusesABatchThatIsNotFirst) {
  OnnxWriter net;
  const std::string dims = written::bytes(1, written::bytes(2, "seq")) +
                           written::bytes(1, written::bytes(2, "batch")) +
                           written::bytes(1, written::integer(1, 8));
  const std::string type = written::bytes(1, written::integer(1, 1) + written::bytes(2, dims));
  net.add_to_graph(written::bytes(11, written::bytes(1, "x") + written::bytes(2, type)));
  net.node("Relu", {"x"}, {"y"});
  net.output("y");
  expect_words(import_refusal(net));
  EXPECT_EQ(import_refusal(net, {.inputs = {{"x", {1, 4, 8}}}}), "imported");
}

// As PyTorch adds a mask, times 1: infinity times no batch is none.
TEST(Import, AddsAnInfiniteMask) {
  OnnxWriter net;
  net.input("x", {-1, 4});
  net.input("mask", {-1, 4}, ElementType::boolean);
  net.floats("low", {}, {-std::numeric_limits<float>::infinity()});
  net.floats("zeros", {4}, {0, 0, 0, -std::numeric_limits<float>::infinity()});
  net.floats("one", {}, {1});
  net.node("Where", {"mask", "low", "zeros"}, {"w"});
  net.node("Mul", {"w", "one"}, {"m"});
  net.node("Add", {"x", "m"}, {"s"});
  net.node("Softmax", {"s"}, {"y"});
  net.output("y");
  EXPECT_EQ(import_refusal(net), "imported");
}

TEST(Import, RefusesAnOutputThatCountsTheBatch) {
  expect_words(refused_node("Shape"));
}

TEST(Import, BoundsWhatItFolds) {
  const auto folded = [](const std::string& op, const std::vector<std::string>& inputs) {
    OnnxWriter net;
    net.input("x", {1, 4});
    net.integers("zero", {}, {0});
    net.integers("one", {}, {1});
    net.integers("huge", {}, {1'000'000'000'000});
    net.integers("shape", {3}, {1'000'000, 1'000'000, 1'000'000});
    net.node(op, inputs, {"made"});
    net.node("Cast", {"made"}, {"float"}, {written::i("to", 1)});
    net.node("Add", {"x", "float"}, {"y"});
    net.output("y");
    return import_refusal(net);
  };
  expect_words(folded("Range", {"zero", "huge", "one"}));
  expect_words(folded("Range", {"zero", "one", "zero"}));
  expect_words(folded("Div", {"one", "zero"}));
  expect_words(folded("Mod", {"one", "zero"}));
  expect_words(folded("ConstantOfShape", {"shape"}));
  expect_words(folded("Expand", {"one", "shape"}));
}

// What has no value in the file is told where it decides something.
TEST(Import, TellsWhatItAssumes) {
  OnnxWriter relu;
  relu.node("Relu", {"x"}, {"r"});
  relu.output("r");
  OnnxWriter tanh;
  tanh.node("Tanh", {"x"}, {"t"});
  tanh.output("t");
  OnnxWriter net;
  net.input("x", {1, 4});
  net.weight("flag", {}, ElementType::boolean);
  net.node("If", {"flag"}, {"y"},
           {written::g("then_branch", relu.graph()), written::g("else_branch", tanh.graph())});
  net.output("y");
  net.opset(99);
  EXPECT_THAT(imported(net).assumptions,
              ElementsAre("Opset 99 is newer than 25, the newest known here, and is read as that.",
                          "The branch of 'y' is chosen by 'flag'.",
                          "The elements of 'flag', which the file keeps outside, are read as true."));
}

TEST(Import, TellsOfBatchNormsOfTraining) {
  OnnxWriter net;
  net.input("x", {1, 3, 4, 4});
  for (const char* weight : {"scale", "shift", "mean", "variance"}) {
    net.weight(weight, {3});
  }
  net.node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, {"y"},
           {written::i("training_mode", 1)});
  net.opset(15);
  net.output("y");
  EXPECT_THAT(imported(net).assumptions, Contains("In inference batch norms use their running statistics."));
}

TEST(Import, RefusesAttentionToOtherNumbersOfKeys) {
  OnnxWriter net;
  net.input("q", {1, 2, 4, 8});
  net.input("k", {1, 2, 4, 8});
  net.input("v", {1, 2, 4, 8});
  net.input("keys", {1});
  net.node("Attention", {"q", "k", "v", "", "", "", "keys"}, {"y"});
  net.opset(24);
  net.output("y");
  expect_words(import_refusal(net));
}

TEST(Import, TellsOfManyWeightsInOneSentence) {
  OnnxWriter net;
  net.input("x", {1, 4, 6, 6});
  net.node("Relu", {"x"}, {"n0"});
  for (int i = 0; i < 6; ++i) {
    const std::string weight = "w" + std::to_string(i / 2 * 2 == i ? i : i - 1);
    if (weight == "w" + std::to_string(i)) {
      net.weight(weight, {4, 4, 1, 1});
    }
    net.node("Conv", {"n" + std::to_string(i), weight}, {"n" + std::to_string(i + 1)});
  }
  net.output("n6");
  EXPECT_THAT(imported(net).assumptions,
              ElementsAre("The weights 'w0', 'w2' and 'w4', which several convolutions share, are stored for "
                          "each."));
}

TEST(Import, ListsEverythingThatIsUnsupported) {
  const std::vector<Unsupported> nodes = unsupported_nodes(data_path("bad/unknown_op.onnx"), {}).nodes;
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].op, "Frobnicate");
}

// What is after an unsupported node too, where its operator alone tells; of the others nothing is known.
TEST(Import, ListsWhatIsBehindTheUnsupported) {
  OnnxWriter net;
  net.input("x", {2, 4, 6, 6});
  net.node("Frobnicate", {"x"}, {"a"});
  net.node("Relu", {"a"}, {"b"});
  net.node("If", {"b"}, {"c"});
  net.node("Defrobnicate", {"c"}, {"d"});
  net.node("Frobnicate", {"d"}, {"y"});
  net.output("y");
  const std::string path = ::testing::TempDir() + "behind.onnx";
  const auto [nodes, of] = unsupported_nodes(net.save(path), {});
  EXPECT_EQ(of, 5);
  expect_words(import_refusal(net));
  ASSERT_THAT(nodes, SizeIs(3));
  EXPECT_EQ(nodes[0].node, "a");
  EXPECT_EQ(nodes[1].node, "d");
  EXPECT_EQ(nodes[1].op, "Defrobnicate");
  EXPECT_EQ(nodes[2].node, "y");
}

TEST(Import, RefusesBadFilesInOneSentence) {
  for (const char* name : {"branch_on_data", "cycle", "empty", "groups", "huge_dims", "missing_weight",
                           "text", "truncated", "unknown_op"}) {
    SCOPED_TRACE(name);
    EXPECT_THROW(import_network(data_path("bad/" + std::string(name) + ".onnx"), {}), UsageError);
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
