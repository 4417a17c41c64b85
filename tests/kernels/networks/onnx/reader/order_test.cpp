#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> all;
  for (const Node& node : graph.nodes) {
    all.push_back(node.name);
  }
  return all;
}

TEST(OnnxOrder, KeepsTheFilesOrderWhereItCan) {
  OnnxWriter net;
  net.input("x", {1});
  net.node("Relu", {"x"}, {"b"});
  net.node("Relu", {"x"}, {"a"});
  net.node("Add", {"b", "a"}, {"y"});
  net.output("y");
  EXPECT_THAT(names(net.parse().graph), ElementsAre("b", "a", "y"));
}

TEST(OnnxOrder, PutsANodeBehindThoseItReads) {
  OnnxWriter net;
  net.input("x", {1});
  net.node("Add", {"a", "b"}, {"y"});
  net.node("Relu", {"c"}, {"a"});
  net.node("Relu", {"x"}, {"b"});
  net.node("Relu", {"x"}, {"c"});
  net.output("y");
  EXPECT_THAT(names(net.parse().graph), ElementsAre("b", "c", "a", "y"));
}

TEST(OnnxOrder, CountsWhatABranchReadsFromOutside) {
  OnnxWriter branch;
  branch.node("Relu", {"inner"}, {"r"});
  branch.node("Relu", {"late"}, {"inner"});
  branch.output("r");
  OnnxWriter net;
  net.input("x", {1});
  net.node("If", {"x"}, {"y"}, {written::g("then_branch", branch.graph())});
  net.node("Relu", {"x"}, {"late"});
  net.output("y");
  const Model model = net.parse();
  EXPECT_THAT(names(model.graph), ElementsAre("late", "y"));
  EXPECT_THAT(names(*model.graph.nodes[1].find("then_branch")->graph), ElementsAre("inner", "r"));
}

TEST(OnnxOrder, RefusesACycleByANodeInIt) {
  OnnxWriter net;
  net.input("x", {1});
  net.node("Relu", {"b"}, {"behind"});  // reads the cycle and is not in it
  net.node("Add", {"x", "c"}, {"b"});
  net.node("Relu", {"b"}, {"c"});
  net.output("behind");
  EXPECT_EQ(refusal_of(net.bytes()),
            "--onnx: 'net.onnx' has a cycle: node 'b' (Add) needs its own result; export it again");
  OnnxWriter itself;
  itself.node("Relu", {"y"}, {"y"});
  itself.output("y");
  expect_words(refusal_of(itself.bytes()));
}

TEST(OnnxOrder, RefusesWhatNothingMakes) {
  OnnxWriter net;
  net.node("Relu", {"x\n"}, {"y"});
  net.output("y");
  EXPECT_EQ(
      refusal_of(net.bytes()),
      "--onnx: 'net.onnx' is incomplete: node 'y' (Relu) reads 'x\\n', which nothing makes; export it again");
  OnnxWriter without;
  without.output("y");
  expect_words(refusal_of(without.bytes()));
  OnnxWriter no_output;
  no_output.input("x", {1});
  expect_words(refusal_of(no_output.bytes()));
}

TEST(OnnxOrder, RefusesTwoValuesOfOneName) {
  OnnxWriter net;
  net.input("x", {1});
  net.node("Relu", {"x"}, {"y"});
  net.node("Relu", {"x"}, {"y"});
  net.output("y");
  EXPECT_EQ(refusal_of(net.bytes()), "--onnx: 'net.onnx' has two values of the name 'y'; export it again");
}

}  // namespace
}  // namespace bench::kernels::onnx
