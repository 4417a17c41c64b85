// Reductions against their formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using Reductions = OnnxAnswers;

// e^(200 x) alone is beyond fp32.
TEST_F(Reductions, TheLogOfASumOfExponentialsDoesNotOverflow) {
  OnnxWriter net;
  net.input("x", {-1, 3, 4});
  net.floats("far", {}, {200});
  net.node("Mul", {"x", "far"}, {"scores"});
  net.node("ReduceLogSumExp", {"scores"}, {"sums"}, {written::ints("axes", {2}), written::i("keepdims", 0)});
  net.floats("near", {}, {200});
  net.node("Div", {"sums", "near"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) {
    Values y;
    for (std::size_t row = 0; row < 3; ++row) {
      const double largest = *std::max_element(x.begin() + 4 * row, x.begin() + 4 * row + 4);
      double sum = 0;
      for (std::size_t i = 4 * row; i < 4 * row + 4; ++i) {
        sum += std::exp(200 * (x[i] - largest));
      }
      y.push_back(static_cast<float>(largest + std::log(sum) / 200));
    }
    return y;
  });
}

// Of a known tensor with two largest elements: at 1 and at 3.
TEST_F(Reductions, TheLargestOfSeveralEqualOnesIsTheFirstOrTheLast) {
  for (const std::int64_t last : {0, 1}) {
    OnnxWriter net;
    net.input("x", {-1, 4});
    net.integers("known", {4}, {2, 5, 1, 5});
    net.node("ArgMax", {"known"}, {"at"},
             {written::i("axis", 0), written::i("keepdims", 0), written::i("select_last_index", last)});
    net.node("Gather", {"x", "at"}, {"y"}, {written::i("axis", 1)});
    net.opset(13);
    net.output("y");
    expect_answers(net, [last](const Values& x) { return Values{x[last == 0 ? 1 : 3]}; });
  }
}

TEST_F(Reductions, WithoutDimensionsEachElementIsReducedByItself) {
  const std::pair<const char*, float (*)(float)> kinds[]{{"ReduceL1", [](float x) { return std::abs(x); }},
                                                         {"ReduceL2", [](float x) { return std::abs(x); }},
                                                         {"ReduceSumSquare", [](float x) { return x * x; }},
                                                         {"ReduceSum", [](float x) { return x; }},
                                                         {"ReduceLogSumExp", [](float x) { return x; }}};
  for (const auto& [op, formula] : kinds) {
    SCOPED_TRACE(op);
    OnnxWriter net;
    net.input("x", {-1, 5});
    net.integers("none", {0}, {});
    net.floats("one", {}, {1});
    net.node(op, {"x", "none"}, {"r"}, {written::i("noop_with_empty_axes", 1)});
    net.node("Add", {"r", "one"}, {"y"});
    net.opset(18);
    net.output("y");
    expect_answers(net, [&, each = formula](Values x) {
      for (float& value : x) {
        value = each(value) + 1;
      }
      return x;
    });
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
