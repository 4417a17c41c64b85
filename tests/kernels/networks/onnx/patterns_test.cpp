#include "kernels/networks/onnx/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/networks/onnx/constants/attributes.h"
#include "onnx_writer.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kSqrt2 = 1.41421356F;

// A network that grows by expressions: each function adds a node and returns its value.
class PatternNet {
 public:
  PatternNet() {
    file.input("x", {-1, 16, 32});
    file.weight("scale", {32});
    file.weight("shift", {32});
  }

  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& attributes = {}) {
    std::string name = op + std::to_string(++count_);
    file.node(op, inputs, {name}, attributes);
    return name;
  }
  std::string number(double value) {
    std::string name = "number" + std::to_string(++count_);
    file.floats(name, {}, {static_cast<float>(value)});
    return name;
  }
  std::string add(const std::string& a, const std::string& b) { return node("Add", {a, b}); }
  std::string sub(const std::string& a, const std::string& b) { return node("Sub", {a, b}); }
  std::string mul(const std::string& a, const std::string& b) { return node("Mul", {a, b}); }
  std::string div(const std::string& a, const std::string& b) { return node("Div", {a, b}); }
  std::string pow(const std::string& a, double exponent) { return node("Pow", {a, number(exponent)}); }
  std::string cast(const std::string& a, ElementType type) {
    return node("Cast", {a}, {written::i("to", static_cast<std::int64_t>(type))});
  }
  std::string mean(const std::string& a, std::int64_t axis = -1, std::int64_t keep = 1) {
    return node("ReduceMean", {a}, {written::ints("axes", {axis}), written::i("keepdims", keep)});
  }
  // (x − mean) / √(variance + ε)
  std::string normalised(const std::string& x, std::int64_t axis = -1, std::int64_t keep = 1) {
    const std::string difference = sub(x, mean(x, axis, keep));
    return div(difference, node("Sqrt", {add(mean(pow(difference, 2), axis, keep), number(1e-6))}));
  }
  std::string gelu(const std::string& x, double divisor = kSqrt2) {
    return mul(mul(x, add(node("Erf", {div(x, number(divisor))}), number(1))), number(0.5));
  }

  // With a value as the network's output, behind one more node.
  Model recognised(const std::string& result) {
    file.node("Softmax", {result}, {"y"});
    file.output("y");
    Model model = file.parse();
    recognise_patterns(model);
    return model;
  }

  OnnxWriter file;

 private:
  int count_ = 0;
};

std::string label(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

// Without Constant nodes, and without the Softmax in the end.
std::vector<std::string> labels(const Model& model) {
  std::vector<std::string> all;
  for (const Node& node : model.graph.nodes) {
    if (node.op != "Constant" && node.op != "Softmax") {
      all.push_back(label(node));
    }
  }
  return all;
}

std::vector<std::string> inputs_of(const Model& model, const std::string& op) {
  const auto at = std::ranges::find(model.graph.nodes, op, label);
  return at == model.graph.nodes.end() ? std::vector<std::string>{"no such node"} : at->inputs;
}

// A way to write something; `net` gives its value.
struct Form {
  const char* name;
  std::function<std::string(PatternNet&)> write;
};

void expect_one_node(const std::vector<Form>& forms, const std::string& op,
                     const std::vector<std::string>& inputs) {
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name);
    PatternNet net;
    const std::string result = form.write(net);
    const Model model = net.recognised(result);
    EXPECT_THAT(labels(model), ElementsAre(op));
    EXPECT_EQ(inputs_of(model, op), inputs);
    EXPECT_EQ(model.graph.nodes.back().inputs.front(), result);
    EXPECT_EQ(model.graph.nodes[model.graph.nodes.size() - 2].name, result);
  }
}

void expect_left_alone(const std::vector<Form>& forms) {
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name);
    PatternNet net;
    const std::string result = form.write(net);
    net.file.node("Softmax", {result}, {"y"});
    net.file.output("y");
    Model model = net.file.parse();
    const std::vector<std::string> before = labels(model);
    recognise_patterns(model);
    EXPECT_EQ(labels(model), before);
  }
}

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

  // A shift alone, and a scale that is not a vector of parameters, stay behind the norm.
  for (const auto& more :
       {std::function([](PatternNet& net) { return net.add(net.normalised("x"), "shift"); }),
        std::function([](PatternNet& net) { return net.mul(net.normalised("x"), net.number(3)); })}) {
    PatternNet net;
    EXPECT_THAT(labels(net.recognised(more(net))), testing::AllOf(SizeIs(2), Contains("bench.LayerNorm")));
  }
}

// PyTorch's group norm before opset 18, of 8 channels in 4 groups.
struct GroupNormForm {
  bool shape_written = false;
  bool unsqueezed = false;
  bool affine = true;
  std::vector<std::int64_t> sizes{0, 4, -1};
  float one = 1;
  std::vector<std::string> part{};  // attributes of Shape
};

Model group_norm(const GroupNormForm& form) {
  OnnxWriter net;
  net.input("x", {-1, 8, 5, 6});
  net.integers("groups", {static_cast<std::int64_t>(form.sizes.size())}, form.sizes);
  net.integers("target", {4}, {1, 8, 5, 6});
  net.floats("ones", {4}, {1, 1, form.one, 1});
  net.floats("zeros", {4}, {0, 0, 0, 0});
  net.weight("gamma", {8, 1, 1});
  net.weight("beta", {8, 1, 1});
  net.weight("gamma_vector", {8});
  net.integers("axes", {2}, {1, 2});
  net.node("Reshape", {"x", "groups"}, {"grouped"});
  net.node("InstanceNormalization", {"grouped", "ones", "zeros"}, {"normalised"},
           {written::f("epsilon", 1e-4F)});
  net.node("Shape", {"x"}, {"shape"}, form.part);
  net.node("Reshape", {"normalised", form.shape_written ? "target" : "shape"}, {"back"});
  if (form.affine) {
    net.node("Unsqueeze", {"gamma_vector", "axes"}, {"unsqueezed"});
    net.node("Mul", {"back", form.unsqueezed ? "unsqueezed" : "gamma"}, {"scaled"});
    net.node("Add", {"beta", "scaled"}, {"result"});
  } else {
    net.node("Identity", {"back"}, {"result"});
  }
  net.node("Softmax", {"result"}, {"y"});
  net.output("y");
  Model model = net.parse();
  recognise_patterns(model);
  return model;
}

TEST(Patterns, RecogniseGroupNorm) {
  const Model model = group_norm({});
  EXPECT_EQ(inputs_of(model, "bench.GroupNorm"), (std::vector<std::string>{"x", "gamma", "beta"}));
  const auto at = std::ranges::find(model.graph.nodes, "bench.GroupNorm", label);
  EXPECT_EQ(integer_of(*at, "groups", 0), 4);
  EXPECT_FLOAT_EQ(number_of(*at, "epsilon", 0), 1e-4F);
  EXPECT_EQ(at->name, "result");
  EXPECT_THAT(labels(model), testing::Not(Contains("Reshape")));

  EXPECT_EQ(inputs_of(group_norm({.unsqueezed = true}), "bench.GroupNorm"),
            (std::vector<std::string>{"x", "gamma_vector", "beta"}));
  EXPECT_EQ(inputs_of(group_norm({.affine = false}), "bench.GroupNorm"), (std::vector<std::string>{"x"}));
  // As the dynamo exporter writes it.
  EXPECT_THAT(labels(group_norm({.part = {written::i("start", 0)}})), Contains("bench.GroupNorm"));
  // A shape that is written down stays, before the norm.
  const Model written = group_norm({.shape_written = true});
  EXPECT_EQ(inputs_of(written, "Reshape"), (std::vector<std::string>{"x", "target"}));
  EXPECT_EQ(inputs_of(written, "bench.GroupNorm"), (std::vector<std::string>{"back", "gamma", "beta"}));
}

TEST(Patterns, LeaveOtherInstanceNorms) {
  for (const GroupNormForm& form :
       {GroupNormForm{.one = 2.0F}, GroupNormForm{.shape_written = true, .sizes = {0, 3, -1}},
        GroupNormForm{.shape_written = true, .affine = false}, GroupNormForm{.sizes = {0, 2, 2, -1}},
        GroupNormForm{.part = {written::i("start", 1)}}, GroupNormForm{.part = {written::i("end", 3)}}}) {
    EXPECT_THAT(labels(group_norm(form)), Contains("InstanceNormalization"));
  }
}

TEST(Patterns, TakeLongChains) {
  OnnxWriter net;
  net.input("x", {-1, 8});
  std::string last = "x";
  for (int i = 0; i < 20'000; ++i) {
    const std::string number = std::to_string(i);
    net.node("Sigmoid", {last}, {"gate" + number});
    net.node("Mul", {last, "gate" + number}, {"value" + number});
    last = "value" + number;
  }
  net.output(last);
  Model model = net.parse();
  recognise_patterns(model);
  EXPECT_THAT(model.graph.nodes, SizeIs(20'000));
  EXPECT_EQ(label(model.graph.nodes.back()), "bench.Silu");
}

TEST(Patterns, TakeNodesThatLackInputs) {
  for (const char* op :
       {"Clip", "Erf", "Sqrt", "Pow", "InstanceNormalization", "HardSigmoid", "ReduceMean", "Add"}) {
    OnnxWriter net;
    net.input("x", {-1, 8});
    net.node(op, {}, {"a"});
    net.node(op, {"", "x"}, {"b"});
    net.node("Sqrt", {"a"}, {"c"});
    net.node("Clip", {"b"}, {"d"});
    net.node("InstanceNormalization", {"a", "b", "c"}, {"e"});
    for (const char* value : {"c", "d", "e"}) {
      net.output(value);
    }
    Model model = net.parse();
    const std::size_t nodes = model.graph.nodes.size();
    recognise_patterns(model);
    EXPECT_EQ(model.graph.nodes.size(), nodes) << op;
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
