// Inputs of an imported network: their sizes, tokens and masks.
#include "kernels/networks/onnx/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/networks/onnx/import.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/imported_answers.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;

TEST(Import, FreeSizesAreAskedFor) {
  OnnxWriter net;
  net.input("images", {-1, 3, -1, -1});
  net.node("Relu", {"images"}, {"y"});
  net.output("y");
  expect_words(import_refusal(net));
  expect_words(import_refusal(net, {.inputs = {{"image", {1, 3, 9, 9}}}}));
  expect_words(import_refusal(net, {.inputs = {{"images", {1, 9, 9}}}}));
  expect_words(import_refusal(net, {.inputs = {{"images", {1, 4, 9, 9}}}}));
  expect_words(import_refusal(net, {.inputs = {{"images", {5, 3, 9, 9}}}}));
  const ImportedNetwork network = imported(net, {.inputs = {{"images", {1, 3, 9, 7}}}});
  EXPECT_EQ(output_shape(network), (Shape{kBatch, 3, 9, 7}));
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
  EXPECT_THAT(network.graph.tokens()->absent, ElementsAre(3));
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

}  // namespace
}  // namespace bench::kernels::onnx
