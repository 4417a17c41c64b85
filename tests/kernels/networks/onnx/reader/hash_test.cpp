#include <gtest/gtest.h>

#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

struct Choice {
  std::string first = "Relu";  // the operator of the branch that is added to the other
  std::int64_t stride = 1;
  std::int64_t channels = 4;
  std::vector<std::int64_t> shape = {1, -1};
  std::vector<float> bias = {1, 2, 3, 4};
  float scale = 2;
  std::string prefix = "";  // of names
  bool turned = false;      // the nodes in another order
  bool shared = true;       // both convolutions have the same weight
};

std::uint64_t hash(const Choice& choice) {
  const auto named = [&](const char* name) { return choice.prefix + name; };
  OnnxWriter net;
  net.input("x", {-1, 3, 8, 8});
  net.weight(named("w"), {choice.channels, 3, 3, 3});
  net.weight(named("v"), {choice.channels, 3, 3, 3});
  net.floats(named("b"), {4}, choice.bias);
  net.floats(named("s"), {}, {choice.scale});
  net.integers(named("shape"), {2}, choice.shape);
  const auto one = [&] {
    net.node("Conv", {"x", named("w"), named("b")}, {named("c")},
             {written::ints("strides", {choice.stride, 1})});
    net.node(choice.first, {named("c")}, {named("r")});
  };
  const auto other = [&] { net.node("Conv", {"x", named(choice.shared ? "w" : "v")}, {named("d")}); };
  if (choice.turned) {
    other();
    one();
  } else {
    one();
    other();
  }
  net.node("Sub", {named("r"), named("d")}, {named("a")});
  net.node("Mul", {named("a"), named("s")}, {named("m")});
  net.node("Reshape", {named("m"), named("shape")}, {"y"});
  net.output("y");
  return net.parse().hash;
}

TEST(OnnxHash, IsOfTheNetworkAlone) {
  const std::uint64_t same = hash({});
  EXPECT_EQ(hash({}), same);
  EXPECT_EQ(hash({.bias = {5, 6, 7, 8}}), same);
  EXPECT_EQ(hash({.prefix = "onnx::"}), same);
  EXPECT_EQ(hash({.turned = true}), same);
}

TEST(OnnxHash, DiffersWhereTheNetworkDoes) {
  const std::uint64_t same = hash({});
  EXPECT_NE(hash({.first = "Neg"}), same);
  EXPECT_NE(hash({.stride = 2}), same);
  EXPECT_NE(hash({.channels = 5}), same);
  EXPECT_NE(hash({.shape = {-1, 4}}), same);
  EXPECT_NE(hash({.scale = 3}), same);
}

std::uint64_t resized(float scale) {
  OnnxWriter net;
  net.input("x", {1, 3, 8, 8});
  net.floats("scales", {4}, {1, 1, scale, scale});
  net.node("Resize", {"x", "", "scales"}, {"y"});
  net.output("y");
  return net.parse().hash;
}

TEST(OnnxHash, CountsTheFactorsOfAResize) {
  EXPECT_EQ(resized(2), resized(2));
  EXPECT_NE(resized(2), resized(4));
}

std::uint64_t tied(bool shared) {
  OnnxWriter net;
  net.input("x", {1, 4});
  net.weight("v", {4, 4});
  if (!shared) {
    net.weight("w", {4, 4});
  }
  net.node("MatMul", {"x", "v"}, {"a"});
  net.node("MatMul", {"a", shared ? "v" : "w"}, {"y"});
  net.output("y");
  return net.parse().hash;
}

TEST(OnnxHash, TellsASharedWeightFromTwo) {
  EXPECT_NE(tied(true), tied(false));
}

TEST(OnnxHash, IsTheFiles) {
  EXPECT_EQ(read_model(data_path("resnet18.onnx")).hash, read_model(data_path("resnet18.onnx")).hash);
  EXPECT_NE(read_model(data_path("resnet18.onnx")).hash, read_model(data_path("bad/unknown_op.onnx")).hash);
  EXPECT_NE(read_model(data_path("resnet18.onnx")).hash, read_model(data_path("bad/groups.onnx")).hash);
}

}  // namespace
}  // namespace bench::kernels::onnx
