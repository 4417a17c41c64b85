// Windows, borders and sizes: what exporters write in several ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using Windows = OnnxAnswers;

// A border of -1 is a value like others: below it a maximum is -1.
TEST_F(Windows, ABorderOfMinusOneCountsInAMaximum) {
  OnnxWriter net;
  net.input("x", {-1, 1, 1, 2});
  net.floats("five", {}, {5});
  net.node("Sub", {"x", "five"}, {"far"});
  net.integers("sizes", {8}, {0, 0, 0, 1, 0, 0, 0, 1});
  net.floats("border", {}, {-1});
  net.node("Pad", {"far", "sizes", "border"}, {"padded"});
  net.node("MaxPool", {"padded"}, {"y"}, {written::ints("kernel_shape", {1, 3})});
  net.output("y");
  expect_answers(net, [](const Values& x) {
    const float most = std::max(x[0], x[1]) - 5;
    return Values{std::max(most, -1.0F), std::max(most, -1.0F)};
  });
}

// 10 · 0.7 is 7 in fp32, and in double a little less.
TEST_F(Windows, AFactorOfAResizeIsInFp32) {
  OnnxWriter net;
  net.input("x", {-1, 1, 10, 10});
  net.floats("factors", {4}, {1, 1, 0.7F, 0.7F});
  net.node("Resize", {"x", "", "factors"}, {"y"}, {written::s("mode", "nearest")});
  net.output("y");
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 1, 7, 7}));
}

// Two pixels become three: of the four that overlap, the first is cut, or with SAME_UPPER the last.
TEST_F(Windows, AnOddCutIsAtTheStart) {
  for (const bool upper : {false, true}) {
    SCOPED_TRACE(upper);
    OnnxWriter net;
    net.input("x", {-1, 1, 1, 2});
    net.weight("w", {1, 1, 1, 3});
    std::vector<std::string> attributes{written::ints("kernel_shape", {1, 3}),
                                        written::ints("output_shape", {1, 3})};
    if (upper) {
      attributes.push_back(written::s("auto_pad", "SAME_UPPER"));
    }
    net.node("ConvTranspose", {"x", "w"}, {"y"}, attributes);
    net.output("y");
    const ImportedNetwork made = network(net);
    const Values w = weight(made, "w");
    expect_answers(made, [&](const Values& x) {
      const Values all{x[0] * w[0], x[0] * w[1] + x[1] * w[0], x[0] * w[2] + x[1] * w[1], x[1] * w[2]};
      const std::ptrdiff_t start = upper ? 0 : 1;
      return Values(all.begin() + start, all.begin() + start + 3);
    });
  }
}

TEST_F(Windows, ABorderThatRepeatsMoreThanThereIsIsRefused) {
  for (const std::int64_t size : {4, -1}) {
    OnnxWriter net;
    net.input("x", {-1, 1, 1, 4});
    net.integers("sizes", {8}, {0, 0, 0, size, 0, 0, 0, 1});
    net.node("Pad", {"x", "sizes"}, {"y"}, {written::s("mode", "reflect")});
    net.output("y");
    expect_words(import_refusal(net));
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
