// Small networks of the nodes that an exporter writes for one layer.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kernels/networks/onnx/patterns.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {

inline constexpr float kSqrt2 = 1.41421356F;

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

  // With a value as the network's output, after one more node.
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

inline std::string label(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

// Without Constant nodes, and without the Softmax in the end.
inline std::vector<std::string> labels(const Model& model) {
  std::vector<std::string> all;
  for (const Node& node : model.graph.nodes) {
    if (node.op != "Constant" && node.op != "Softmax") {
      all.push_back(label(node));
    }
  }
  return all;
}

inline std::vector<std::string> inputs_of(const Model& model, const std::string& op) {
  const auto at = std::ranges::find(model.graph.nodes, op, label);
  return at == model.graph.nodes.end() ? std::vector<std::string>{"no such node"} : at->inputs;
}

// A way to write something; `net` gives its value.
struct Form {
  const char* name;
  std::function<std::string(PatternNet&)> write;
};

inline void expect_one_node(const std::vector<Form>& forms, const std::string& op,
                            const std::vector<std::string>& inputs) {
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name);
    PatternNet net;
    const std::string result = form.write(net);
    const Model model = net.recognised(result);
    EXPECT_THAT(labels(model), ::testing::ElementsAre(op));
    EXPECT_EQ(inputs_of(model, op), inputs);
    EXPECT_EQ(model.graph.nodes.back().inputs.front(), result);
    EXPECT_EQ(model.graph.nodes[model.graph.nodes.size() - 2].name, result);
  }
}

inline void expect_left_alone(const std::vector<Form>& forms) {
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

}  // namespace bench::kernels::onnx
