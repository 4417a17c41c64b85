#include "kernels/networks/onnx/reader/weights_among_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> inputs_of(const Model& model) {
  std::vector<std::string> names;
  for (const ValueInfo& input : model.graph.inputs) {
    names.push_back(input.name);
  }
  return names;
}

// A convolution, then an addition of a bias. Both weights are initializers, or both are inputs.
Model network(bool as_inputs) {
  OnnxWriter net;
  net.input("x", {1, 3, 8, 8});
  const auto weight = [&](const std::string& name, const std::vector<std::int64_t>& dims) {
    if (as_inputs) {
      net.input(name, dims);
    } else {
      net.weight(name, dims);
    }
  };
  weight("token", {1, 4, 1});
  weight("filters", {4, 3, 3, 3});
  weight("bias", {4, 1, 1});
  net.node("Conv", {"x", "filters"}, {"c"});
  net.node("Add", {"c", "bias"}, {"s"});
  net.integers("rows", {3}, {0, 0, -1});
  net.node("Reshape", {"s", "rows"}, {"r"});
  net.node("Add", {"r", "token"}, {"y"});
  net.output("y");
  return net.parse();
}

TEST(WeightsAmongInputs, BecomeInitializers) {
  const Model model = network(true);
  EXPECT_THAT(inputs_of(model), ElementsAre("x"));
  EXPECT_THAT(model.weight_inputs, ElementsAre("token", "filters", "bias"));
  EXPECT_EQ(model.hash, network(false).hash);
}

TEST(WeightsAmongInputs, AreTokenTablesAndMatricesButNoMasks) {
  OnnxWriter net;
  net.input("ids", {1, 8}, ElementType::i64);
  net.input("attention_mask", {1, 8});
  net.input("table", {100, 4});
  net.input("matrix", {2, 4});
  net.node("Gather", {"table", "ids"}, {"g"});
  net.node("Transpose", {"matrix"}, {"t"}, {written::ints("perm", {1, 0})});
  net.node("MatMul", {"g", "t"}, {"m"});
  net.integers("behind", {1}, {-1});
  net.node("Unsqueeze", {"attention_mask", "behind"}, {"u"});
  net.node("Mul", {"m", "u"}, {"y"});
  net.output("y");
  const Model model = net.parse();
  EXPECT_THAT(inputs_of(model), ElementsAre("ids", "attention_mask"));
  EXPECT_THAT(model.weight_inputs, ElementsAre("table", "matrix"));
}

// Two inputs of one shape, whose product is data.
TEST(WeightsAmongInputs, AreNotTheDataOfAProduct) {
  OnnxWriter net;
  net.input("queries", {1, 8, 4});
  net.input("keys", {1, 4, 8});
  net.node("MatMul", {"queries", "keys"}, {"y"});
  net.output("y");
  const Model model = net.parse();
  EXPECT_THAT(inputs_of(model), ElementsAre("queries", "keys"));
  EXPECT_THAT(model.weight_inputs, IsEmpty());
}

TEST(WeightsAmongInputs, TellMasksByTheirNames) {
  EXPECT_TRUE(is_mask("attention_mask"));
  EXPECT_TRUE(is_mask("Mask"));
  EXPECT_FALSE(is_mask("decoder.mask_token"));
  EXPECT_FALSE(is_mask("images"));
}

}  // namespace
}  // namespace bench::kernels::onnx
