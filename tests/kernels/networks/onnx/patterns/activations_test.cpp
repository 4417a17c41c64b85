#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/networks/onnx/constants/attributes.h"
#include "tests/kernels/networks/onnx/pattern_net.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::ElementsAre;

TEST(Patterns, RecogniseGelu) {
  expect_one_node(
      {
          {"PyTorch", [](PatternNet& net) { return net.gelu("x"); }},
          {"half first",
           [](PatternNet& net) {
             const std::string half = net.mul("x", net.number(0.5));
             const std::string erf = net.node("Erf", {net.mul("x", net.number(0.70710678))});
             return net.mul(half, net.add(net.number(1), erf));
           }},
          {"half inside",
           [](PatternNet& net) {
             const std::string erf = net.node("Erf", {net.mul(net.number(0.70710678), "x")});
             return net.mul(net.mul(net.number(0.5), net.add(erf, net.number(1))), "x");
           }},
          {"halved by division",
           [](PatternNet& net) {
             const std::string erf = net.node("Erf", {net.div("x", net.number(kSqrt2))});
             return net.div(net.mul("x", net.add(erf, net.number(1))), net.number(2));
           }},
          {"in half precision, with conversions",
           [](PatternNet& net) {
             net.file.initializer(written::raw_tensor<std::uint16_t>("root", {}, ElementType::f16, {0x3da8}));
             const std::string erf = net.cast(
                 net.node("Erf", {net.cast(net.div("x", "root"), ElementType::f32)}), ElementType::f16);
             return net.mul(net.mul(net.cast("x", ElementType::f16), net.add(erf, net.number(1))),
                            net.number(0.5));
           }},
          {"constants of nodes",
           [](PatternNet& net) {
             const std::string root = net.node("Constant", {}, {written::f("value_float", kSqrt2)});
             const std::string one =
                 net.node("Constant", {},
                          {written::t("value", written::raw_tensor<float>("", {1}, ElementType::f32, {1}))});
             const std::string half =
                 net.node("Identity", {net.node("Constant", {}, {written::floats("value_floats", {0.5F})})});
             const std::string erf = net.node("Erf", {net.div("x", root)});
             return net.mul(net.mul("x", net.add(erf, one)), half);
           }},
      },
      "bench.Gelu", {"x"});
}

TEST(Patterns, RecogniseGeluByTanh) {
  const double scale = std::sqrt(2 / 3.14159265358979);
  const auto ends = [](PatternNet& net, const std::string& argument) {
    return net.mul(net.mul("x", net.number(0.5)), net.add(net.node("Tanh", {argument}), net.number(1)));
  };
  expect_one_node(
      {{"power",
        [&](PatternNet& net) {
          const std::string cube = net.mul(net.pow("x", 3), net.number(0.044715));
          return ends(net, net.mul(net.add("x", cube), net.number(scale)));
        }},
       {"products",
        [&](PatternNet& net) {
          const std::string cube = net.mul("x", net.mul("x", "x"));
          return ends(net, net.mul(net.number(scale), net.add(net.mul(net.number(0.044715), cube), "x")));
        }},
       {"x outside",
        [&](PatternNet& net) {
          const std::string square = net.mul(net.mul(net.number(0.044715), "x"), "x");
          return ends(net, net.mul(net.mul("x", net.number(scale)), net.add(net.number(1), square)));
        }}},
      "bench.Gelu", {"x"});
  PatternNet net;
  const std::string cube = net.mul(net.pow("x", 3), net.number(0.044715));
  const Model model = net.recognised(ends(net, net.mul(net.add("x", cube), net.number(scale))));
  EXPECT_EQ(text_of(model.graph.nodes.front(), "approximate", ""), "tanh");
}

TEST(Patterns, RecogniseSiluAndHardSwish) {
  expect_one_node({{"silu", [](PatternNet& net) { return net.mul(net.node("Sigmoid", {"x"}), "x"); }}},
                  "bench.Silu", {"x"});
  const auto relu6 = [](PatternNet& net) {
    return net.node("Clip", {net.add("x", net.number(3)), net.number(0), net.number(6)});
  };
  const std::vector<std::string> sixth{written::f("alpha", 1.0F / 6), written::f("beta", 0.5)};
  expect_one_node(
      {
          {"hard sigmoid",
           [&](PatternNet& net) { return net.mul("x", net.node("HardSigmoid", {"x"}, sixth)); }},
          {"divided last", [&](PatternNet& net) { return net.div(net.mul("x", relu6(net)), net.number(6)); }},
          {"divided first",
           [&](PatternNet& net) { return net.mul("x", net.div(relu6(net), net.number(6))); }},
          {"a sixth",
           [&](PatternNet& net) { return net.mul(net.mul(relu6(net), net.number(0.16666667)), "x"); }},
          {"bounds as attributes",
           [](PatternNet& net) {
             const std::string clip = net.node("Clip", {net.add(net.number(3), "x")},
                                               {written::f("min", 0), written::f("max", 6)});
             return net.mul("x", net.div(clip, net.number(6)));
           }},
          {"Relu and Min",
           [](PatternNet& net) {
             const std::string relu = net.node("Relu", {net.add("x", net.number(3))});
             return net.mul("x", net.mul(net.node("Min", {relu, net.number(6)}), net.number(1.0 / 6)));
           }},
          {"up to 1",
           [](PatternNet& net) {
             const std::string line = net.add(net.div("x", net.number(6)), net.number(0.5));
             return net.mul("x", net.node("Clip", {line, net.number(0), net.number(1)}));
           }},
      },
      "bench.HardSwish", {"x"});
  expect_one_node({{"hard sigmoid", [&](PatternNet& net) { return net.div(relu6(net), net.number(6)); }},
                   {"up to 1",
                    [](PatternNet& net) {
                      const std::string line = net.add(net.mul("x", net.number(1.0 / 6)), net.number(0.5));
                      return net.node("Clip", {line, net.number(0), net.number(1)});
                    }}},
                  "HardSigmoid", {"x"});
}

TEST(Patterns, LeaveOtherActivations) {
  expect_left_alone({
      {"another divisor", [](PatternNet& net) { return net.gelu("x", 1.5); }},
      {"another value's gate",
       [](PatternNet& net) { return net.mul("x", net.node("Sigmoid", {net.node("Neg", {"x"})})); }},
      {"a scaled sigmoid",
       [](PatternNet& net) { return net.mul("x", net.node("Sigmoid", {net.mul("x", net.number(1.702))})); }},
      {"no half",
       [](PatternNet& net) {
         return net.mul("x", net.add(net.node("Erf", {net.div("x", net.number(kSqrt2))}), net.number(1)));
       }},
      {"ONNX's own hard sigmoid",
       [](PatternNet& net) { return net.mul("x", net.node("HardSigmoid", {"x"})); }},
      {"other bounds",
       [](PatternNet& net) {
         const std::string clip =
             net.node("Clip", {net.add("x", net.number(3)), net.number(-1), net.number(6)});
         return net.div(net.mul("x", clip), net.number(6));
       }},
      {"a factor that the file does not have",
       [](PatternNet& net) {
         net.file.weight("unknown", {});
         const std::string erf = net.node("Erf", {net.div("x", "unknown")});
         return net.mul(net.mul("x", net.add(erf, net.number(1))), net.number(0.5));
       }},
      {"a custom operator",
       [](PatternNet& net) {
         net.file.node("Sigmoid", {"x"}, {"gate"}, {}, {.name = "custom", .domain = "other"});
         return net.mul("x", "gate");
       }},
  });
}

TEST(Patterns, LeaveWhatOthersRead) {
  expect_left_alone({
      {"an inner value that is read elsewhere",
       [](PatternNet& net) {
         const std::string gate = net.node("Sigmoid", {"x"});
         return net.node("Concat", {net.mul("x", gate), gate}, {written::i("axis", 1)});
       }},
      {"an inner value that is an output",
       [](PatternNet& net) {
         const std::string gate = net.node("Sigmoid", {"x"});
         net.file.output(gate);
         return net.mul("x", gate);
       }},
      {"an inner value that a nested graph reads",
       [](PatternNet& net) {
         const std::string gate = net.node("Sigmoid", {"x"});
         const std::string branch = written::bytes(1, written::node("Neg", {gate}, {"branch"})) +
                                    written::bytes(12, written::bytes(1, "branch"));
         net.file.initializer(written::raw_tensor<std::uint8_t>("always", {}, ElementType::boolean, {1}));
         net.file.node("If", {"always"}, {"chosen"},
                       {written::g("then_branch", branch), written::g("else_branch", branch)});
         return net.add(net.mul("x", gate), "chosen");
       }},
      {"a layer norm's deviation",
       [](PatternNet& net) {
         const std::string difference = net.sub("x", net.mean("x"));
         const std::string deviation =
             net.node("Sqrt", {net.add(net.mean(net.pow(difference, 2)), net.number(1e-5))});
         return net.add(net.div(difference, deviation), deviation);
       }},
  });

  // What does not depend on the inner value that is read is still one node.
  PatternNet net;
  const std::string normalised = net.normalised("x");
  const std::string scaled = net.mul(normalised, "scale");
  EXPECT_THAT(labels(net.recognised(net.add(net.add(scaled, "shift"), scaled))),
              ElementsAre("bench.LayerNorm", "Add", "Add"));
}

}  // namespace
}  // namespace bench::kernels::onnx
