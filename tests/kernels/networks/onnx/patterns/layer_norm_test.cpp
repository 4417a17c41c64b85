#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/networks/onnx/constants/attributes.h"
#include "tests/kernels/networks/onnx/pattern_net.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Patterns, RecogniseLayerNorm) {
  const auto affine = [](PatternNet& net, const std::string& normalised) {
    return net.add(net.mul(normalised, "scale"), "shift");
  };
  const auto variance = [](PatternNet& net, const std::string& difference) {
    return net.add(net.mean(net.mul(difference, difference)), net.number(1e-6));
  };
  expect_one_node(
      {
          {"PyTorch", [&](PatternNet& net) { return affine(net, net.normalised("x")); }},
          {"the other order",
           [](PatternNet& net) { return net.add("shift", net.mul("scale", net.normalised("x"))); }},
          {"the last axis counted from the first",
           [&](PatternNet& net) { return affine(net, net.normalised("x", 2)); }},
          {"axes as an input",
           [&](PatternNet& net) {
             net.file.opset(18);
             net.file.integers("axes", {1}, {-1});
             const std::string difference = net.sub("x", net.node("ReduceMean", {"x", "axes"}));
             const std::string squares = net.node("ReduceMean", {net.pow(difference, 2), "axes"});
             return affine(net, net.div(difference, net.node("Sqrt", {net.add(net.number(1e-6), squares)})));
           }},
          {"a reciprocal",
           [&](PatternNet& net) {
             const std::string difference = net.sub("x", net.mean("x"));
             return affine(net,
                           net.mul(difference,
                                   net.node("Reciprocal", {net.node("Sqrt", {variance(net, difference)})})));
           }},
          {"a power",
           [&](PatternNet& net) {
             const std::string difference = net.sub("x", net.mean("x"));
             return affine(net, net.mul(net.pow(variance(net, difference), -0.5), difference));
           }},
          {"mean and difference twice",
           [&](PatternNet& net) {
             const std::string deviation = net.node("Sqrt", {variance(net, net.sub("x", net.mean("x")))});
             return affine(net, net.div(net.sub("x", net.mean("x")), deviation));
           }},
          {"Keras",
           [&](PatternNet& net) {
             const std::string mean = net.mean("x");
             const std::string inverse =
                 net.node("Reciprocal", {net.node("Sqrt", {variance(net, net.sub("x", mean))})});
             const std::string scaled = net.mul(inverse, "scale");
             return net.add(net.mul("x", scaled), net.sub("shift", net.mul(mean, scaled)));
           }},
          {"half precision, with conversions",
           [&](PatternNet& net) {
             const std::string x = net.cast("x", ElementType::f32);
             const std::string difference = net.sub("x", net.mean(x));
             const std::string squares = net.mean(net.cast(net.pow(difference, 2), ElementType::f32));
             const std::string deviation = net.node("Sqrt", {net.add(squares, net.number(1e-6))});
             return affine(net, net.cast(net.div(difference, deviation), ElementType::f16));
           }},
      },
      "bench.LayerNorm", {"x", "scale", "shift"});
  expect_one_node({{"without scale and shift", [](PatternNet& net) { return net.normalised("x"); }}},
                  "bench.LayerNorm", {"x"});
  expect_one_node(
      {{"without a shift", [](PatternNet& net) { return net.mul(net.normalised("x"), "scale"); }}},
      "bench.LayerNorm", {"x", "scale"});
}

TEST(Patterns, RecogniseTwoNormsOfOneValue) {
  PatternNet net;
  const std::string first = net.normalised("x");
  EXPECT_THAT(labels(net.recognised(net.add(first, net.normalised("x")))),
              ElementsAre("bench.LayerNorm", "bench.LayerNorm", "Add"));
}

TEST(Patterns, KeepEpsilonOfLayerNorm) {
  PatternNet net;
  const Model model = net.recognised(net.normalised("x"));
  EXPECT_FLOAT_EQ(number_of(model.graph.nodes.front(), "epsilon", 0), 1e-6F);
}

TEST(Patterns, LeaveOtherNorms) {
  expect_left_alone({
      {"another axis", [](PatternNet& net) { return net.normalised("x", 1); }},
      {"an axis of a value whose rank is not known",
       [](PatternNet& net) { return net.normalised(net.node("Custom", {"x"}), 2); }},
      {"a mean without its dimension", [](PatternNet& net) { return net.normalised("x", -1, 0); }},
      {"no mean",
       [](PatternNet& net) {
         return net.div("x", net.node("Sqrt", {net.add(net.mean(net.pow("x", 2)), net.number(1e-6))}));
       }},
      {"another power",
       [](PatternNet& net) {
         const std::string difference = net.sub("x", net.mean("x"));
         return net.div(difference,
                        net.node("Sqrt", {net.add(net.mean(net.pow(difference, 3)), net.number(1e-6))}));
       }},
      {"a mean of something else",
       [](PatternNet& net) {
         const std::string difference = net.sub("x", net.mean(net.node("Neg", {"x"})));
         return net.div(difference,
                        net.node("Sqrt", {net.add(net.mean(net.pow(difference, 2)), net.number(1e-6))}));
       }},
  });

  // A shift alone, and a scale that is not a vector of parameters, stay after the norm.
  for (const auto& more :
       {std::function([](PatternNet& net) { return net.add(net.normalised("x"), "shift"); }),
        std::function([](PatternNet& net) { return net.mul(net.normalised("x"), net.number(3)); })}) {
    PatternNet net;
    EXPECT_THAT(labels(net.recognised(more(net))), testing::AllOf(SizeIs(2), Contains("bench.LayerNorm")));
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
