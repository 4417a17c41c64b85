#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using written::function;
using written::node;

// x → op(x) → y, the operator of the domain "local".
OnnxWriter one_call(const std::string& op, const std::vector<std::string>& attributes = {}) {
  OnnxWriter net;
  net.input("x", {1});
  net.node(op, {"x"}, {"y"}, attributes, {.name = "call", .domain = "local"});
  net.output("y");
  return net;
}

TEST(OnnxFunctions, BecomeTheirNodes) {
  OnnxWriter net = one_call("F");
  net.function(
      function("local", "F", {"a"}, {"b"},
               {node("Relu", {"a"}, {"t"}, {}, {"r", ""}), node("Neg", {"t"}, {"b"}, {}, {"n", ""})}));
  const Graph graph = net.parse().graph;
  ASSERT_THAT(graph.nodes, SizeIs(2));
  EXPECT_EQ(graph.nodes[0].op, "Relu");
  EXPECT_EQ(graph.nodes[0].name, "call/r");
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x"));
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("call/t"));
  EXPECT_THAT(graph.nodes[1].inputs, ElementsAre("call/t"));
  EXPECT_THAT(graph.nodes[1].outputs, ElementsAre("y"));
}

TEST(OnnxFunctions, CallEachOther) {
  OnnxWriter net = one_call("Outer");
  net.function(function(
      "local", "Outer", {"a"}, {"b"},
      {node("Inner", {"a"}, {"t"}, {}, {"1", "local"}), node("Inner", {"t"}, {"b"}, {}, {"2", "local"})}));
  net.function(
      function("local", "Inner", {"a"}, {"b"}, {node("Relu", {"a"}, {"t"}), node("Neg", {"t"}, {"b"})}));
  const Graph graph = net.parse().graph;
  ASSERT_THAT(graph.nodes, SizeIs(4));
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("call/1/t"));
  EXPECT_THAT(graph.nodes[1].outputs, ElementsAre("call/t"));
  EXPECT_THAT(graph.nodes[2].inputs, ElementsAre("call/t"));
  EXPECT_THAT(graph.nodes[2].outputs, ElementsAre("call/2/t"));
}

TEST(OnnxFunctions, TakeAttributesFromTheCallOrTheirDefaults) {
  const std::vector<std::string> body = {
      node("Op", {"a"}, {"b"},
           {written::reference("alpha", "given", 1), written::reference("beta", "left_out", 1),
            written::reference("gamma", "unknown", 1), written::i("own", 4)})};
  OnnxWriter net = one_call("F", {written::f("given", 2)});
  net.function(function("local", "F", {"a"}, {"b"}, body, {written::f("left_out", 3)}));
  const Graph graph = net.parse().graph;
  const Node& made = graph.nodes.at(0);
  EXPECT_EQ(made.find("alpha")->f, 2);
  EXPECT_EQ(made.find("beta")->f, 3);
  EXPECT_EQ(made.find("gamma"), nullptr);
  EXPECT_EQ(made.find("own")->i, 4);
}

TEST(OnnxFunctions, AreInlinedInBranchesAndHaveBranches) {
  OnnxWriter branch;
  branch.node("G", {"t"}, {"r"}, {}, {.name = "g", .domain = "local"});
  branch.output("r");
  OnnxWriter net = one_call("F");
  net.function(function(
      "local", "F", {"a"}, {"b"},
      {node("Relu", {"a"}, {"t"}), node("If", {"a"}, {"b"}, {written::g("then_branch", branch.graph())})}));
  net.function(function("local", "G", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})}));
  const Graph graph = net.parse().graph;
  const Graph& inner = *graph.nodes.at(1).find("then_branch")->graph;
  ASSERT_THAT(inner.nodes, SizeIs(1));
  EXPECT_EQ(inner.nodes[0].op, "Neg");
  EXPECT_THAT(inner.nodes[0].inputs, ElementsAre("call/t"));
  EXPECT_THAT(inner.nodes[0].outputs, ElementsAre("call/r"));
  EXPECT_EQ(inner.outputs.at(0).name, "call/r");
}

TEST(OnnxFunctions, KeepNamesApart) {
  OnnxWriter net = one_call("F");
  net.node("Relu", {"x"}, {"call/t"});
  net.function(function("local", "F", {"a"}, {"b"}, {node("Relu", {"a"}, {"t"}), node("Neg", {"t"}, {"b"})}));
  const Graph graph = net.parse().graph;
  EXPECT_THAT(graph.nodes.at(0).outputs, ElementsAre("call/t#1"));
  EXPECT_THAT(graph.nodes.at(1).inputs, ElementsAre("call/t#1"));
}

TEST(OnnxFunctions, PassAnArgumentThrough) {
  OnnxWriter net = one_call("F");
  net.function(function("local", "F", {"a"}, {"a"}, {}));
  const Graph graph = net.parse().graph;
  ASSERT_THAT(graph.nodes, SizeIs(1));
  EXPECT_EQ(graph.nodes[0].op, "Identity");
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x"));
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("y"));
}

TEST(OnnxFunctions, HaveTheHashOfTheirNodes) {
  OnnxWriter called = one_call("F");
  called.function(
      function("local", "F", {"a"}, {"b"}, {node("Relu", {"a"}, {"t"}), node("Neg", {"t"}, {"b"})}));
  OnnxWriter plain;
  plain.input("x", {1});
  plain.node("Relu", {"x"}, {"t"});
  plain.node("Neg", {"t"}, {"y"});
  plain.output("y");
  EXPECT_EQ(called.parse().hash, plain.parse().hash);
}

TEST(OnnxFunctions, AreRefusedWhereTheyDoNotEnd) {
  OnnxWriter net = one_call("F");
  net.function(function("local", "F", {"a"}, {"b"}, {node("G", {"a"}, {"b"}, {}, {"", "local"})}));
  net.function(function("local", "G", {"a"}, {"b"}, {node("F", {"a"}, {"b"}, {}, {"", "local"})}));
  EXPECT_EQ(refusal_of(net.bytes()),
            "--onnx: 'net.onnx' has a function 'F' that calls itself; export it again");
}

// F0 calls F1 twice, which calls F2 twice, and so on: a file of a few lines, and 2^30 nodes.
TEST(OnnxFunctions, AreRefusedWhereTheyExplode) {
  OnnxWriter net = one_call("F0");
  for (int i = 0; i < 30; ++i) {
    const std::string next = "F" + std::to_string(i + 1);
    net.function(
        function("local", "F" + std::to_string(i), {"a"}, {"b"},
                 {node(next, {"a"}, {"t"}, {}, {"", "local"}), node(next, {"t"}, {"b"}, {}, {"", "local"})}));
  }
  net.function(function("local", "F30", {"a"}, {"a"}, {}));
  expect_words(refusal_of(net.bytes()));
}

TEST(OnnxFunctions, AreRefusedWhereTheyNestTooDeep) {
  OnnxWriter net = one_call("F0");
  for (int i = 0; i < 40; ++i) {
    net.function(function("local", "F" + std::to_string(i), {"a"}, {"b"},
                          {node("F" + std::to_string(i + 1), {"a"}, {"b"}, {}, {"", "local"})}));
  }
  expect_words(refusal_of(net.bytes()));
}

TEST(OnnxFunctions, AreRefusedWhereTheyDoNotFitTheirCall) {
  OnnxWriter arguments = one_call("F");
  arguments.function(function("local", "F", {}, {"b"}, {}));
  expect_words(refusal_of(arguments.bytes()));
  OnnxWriter unmade = one_call("F");
  unmade.function(function("local", "F", {"a"}, {"b"}, {node("Relu", {"x"}, {"b"})}));
  expect_words(refusal_of(unmade.bytes()));
  OnnxWriter version = one_call("F");
  version.function(function("local", "F", {"a"}, {"a"}, {}) + written::bytes(9, written::opset("", 13)));
  expect_words(refusal_of(version.bytes()));
  OnnxWriter twice = one_call("F");
  twice.function(function("local", "F", {"a"}, {"a"}, {}));
  twice.function(function("local", "F", {"a"}, {"a"}, {}));
  expect_words(refusal_of(twice.bytes()));
  OnnxWriter outside;
  outside.input("x", {1});
  outside.node("Relu", {"x"}, {"y"}, {written::reference("alpha", "beta", 1)});
  outside.output("y");
  expect_words(refusal_of(outside.bytes()));
}

}  // namespace
}  // namespace bench::kernels::onnx
