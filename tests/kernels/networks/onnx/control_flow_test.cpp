// Loops of known length and lists of values.
#include "kernels/networks/onnx/control_flow.h"

#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using ControlFlowAnswers = OnnxAnswers;

OnnxWriter body_of(const std::string& condition) {
  OnnxWriter body;
  body.input("turn", {}, ElementType::i64);
  body.input("goes", {}, ElementType::boolean);
  body.input("sum", {1, 2});
  body.node("Cast", {"turn"}, {"number"}, {written::i("to", 1)});
  body.node("Add", {"sum", "number"}, {"more"});
  body.integers("three", {}, {3});
  body.node("Less", {"turn", "three"}, {"below"});
  body.node("Identity", {condition}, {"again"});
  body.output("again");
  body.output("more");
  body.output("number");
  return body;
}

// 0 + 1 + 2 is added, and the turns' numbers are stacked.
TEST_F(ControlFlowAnswers, ALoopRunsItsTurns) {
  OnnxWriter net;
  net.input("x", {-1, 2});
  net.integers("turns", {}, {3});
  net.integers("front", {1}, {0});
  net.node("Loop", {"turns", "", "x"}, {"sum", "numbers"}, {written::g("body", body_of("goes").graph())});
  net.node("ReduceSum", {"numbers", "front"}, {"total"}, {written::i("keepdims", 0)});
  net.node("Mul", {"sum", "total"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) { return Values{3 * (x[0] + 3), 3 * (x[1] + 3)}; });
}

// x · w · w · w: each turn's layer has the same weights.
TEST_F(ControlFlowAnswers, TurnsShareTheirWeights) {
  OnnxWriter body;
  body.input("turn", {}, ElementType::i64);
  body.input("goes", {}, ElementType::boolean);
  body.input("rows", {1, 2});
  body.node("MatMul", {"rows", "w"}, {"turned"});
  body.output("goes");
  body.output("turned");
  OnnxWriter net;
  net.input("x", {-1, 2});
  net.weight("w", {2, 2});
  net.integers("turns", {}, {3});
  net.node("Loop", {"turns", "", "x"}, {"y"}, {written::g("body", body.graph())});
  net.output("y");
  const ImportedNetwork made = network(net);
  EXPECT_EQ(made.graph.parameter_count(), 4);
  const Values w = weight(made, "w");  // by features
  expect_answers(made, [&](Values x) {
    for (int turn = 0; turn < 3; ++turn) {
      x = {x[0] * w[0] + x[1] * w[1], x[0] * w[2] + x[1] * w[3]};
    }
    return x;
  });
}

// The condition ends it behind the turn of 3.
TEST_F(ControlFlowAnswers, ALoopEndsByItsCondition) {
  OnnxWriter net;
  net.input("x", {-1, 2});
  net.node("Loop", {"", "", "x"}, {"y", ""}, {written::g("body", body_of("below").graph())});
  net.output("y");
  expect_answers(net, [](const Values& x) { return Values{x[0] + 6, x[1] + 6}; });
}

TEST(ControlFlow, RefusesALoopWithoutAnEnd) {
  OnnxWriter net;
  net.input("x", {-1, 2});
  net.node("Loop", {"", "", "x"}, {"y", ""}, {written::g("body", body_of("goes").graph())});
  net.output("y");
  expect_words(import_refusal(net));
}

TEST(ControlFlow, RefusesALoopThatDependsOnData) {
  OnnxWriter net;
  net.input("x", {-1, 2});
  net.node("ReduceMax", {"x"}, {"most"}, {written::ints("axes", {1})});
  net.node("Loop", {"most", "", "x"}, {"y", ""}, {written::g("body", body_of("goes").graph())});
  net.output("y");
  expect_words(import_refusal(net));
}

// As repeat_interleave is exported: every part of a list is repeated, and they are joined.
TEST_F(ControlFlowAnswers, ALoopFillsAList) {
  OnnxWriter net;
  net.input("x", {-1, 3});
  net.integers("turns", {}, {3});
  net.integers("twice", {2}, {1, 2});
  OnnxWriter body;
  body.input("turn", {}, ElementType::i64);
  body.input("goes", {}, ElementType::boolean);
  body.input("list", {1});
  body.node("SequenceAt", {"parts", "turn"}, {"part"});
  body.node("Expand", {"part", "twice"}, {"wide"});
  body.node("SequenceInsert", {"list", "wide"}, {"longer"});
  body.output("goes");
  body.output("longer");
  net.node("SplitToSequence", {"x"}, {"parts"}, {written::i("axis", 1)});
  net.node("SequenceEmpty", {}, {"none"});
  net.node("Loop", {"turns", "", "none"}, {"list"}, {written::g("body", body.graph())});
  net.node("ConcatFromSequence", {"list"}, {"y"}, {written::i("axis", 1)});
  net.output("y");
  expect_answers(net, [](const Values& x) { return Values{x[0], x[0], x[1], x[1], x[2], x[2]}; });
}

TEST_F(ControlFlowAnswers, AListIsChanged) {
  OnnxWriter net;
  net.input("x", {-1, 5});
  net.integers("sizes", {}, {2});
  net.integers("first", {}, {0});
  net.integers("last", {}, {-1});
  net.node("SplitToSequence", {"x", "sizes"}, {"parts"}, {written::i("axis", 1)});  // 2, 2 and 1
  net.node("SequenceAt", {"parts", "last"}, {"one"});
  net.node("SequenceErase", {"parts", "first"}, {"fewer"});
  net.node("SequenceInsert", {"fewer", "one", "first"}, {"more"});
  net.node("SequenceLength", {"more"}, {"count"});
  net.node("Cast", {"count"}, {"number"}, {written::i("to", 1)});
  net.node("ConcatFromSequence", {"more"}, {"joined"}, {written::i("axis", -1)});
  net.node("Mul", {"joined", "number"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) { return Values{3 * x[4], 3 * x[2], 3 * x[3], 3 * x[4]}; });
}

TEST(Sequences, AreNoValues) {
  OnnxWriter net;
  net.input("x", {-1, 2});
  net.node("SequenceConstruct", {"x", "x"}, {"list"});
  net.node("Relu", {"list"}, {"y"});
  net.output("y");
  expect_words(import_refusal(net));
  OnnxWriter empty;
  empty.input("x", {-1, 2});
  empty.node("SequenceEmpty", {}, {"list"});
  empty.node("ConcatFromSequence", {"list"}, {"y"}, {written::i("axis", 0)});
  empty.output("y");
  expect_words(import_refusal(empty));
}

}  // namespace
}  // namespace bench::kernels::onnx
