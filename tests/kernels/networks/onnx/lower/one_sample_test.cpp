// Constants of a file with a fixed batch that hold the same for each of its samples.
#include "kernels/networks/onnx/lower/one_sample.h"

#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using OneSample = OnnxAnswers;

// Two samples and 2 x 2 x 3 factors, which meet the batch.
OnnxWriter scaled(const std::vector<float>& factors) {
  OnnxWriter net;
  net.input("x", {2, 2, 3});
  net.floats("factors", {2, 2, 3}, factors);
  net.node("Mul", {"x", "factors"}, {"y"});
  net.output("y");
  return net;
}

TEST_F(OneSample, OfAConstantMeetsEachSample) {
  const OnnxWriter net = scaled({1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 2, 3}));
  expect_answers(net, [](const Values& x) {
    Values y = x;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] *= static_cast<float>(i + 1);
    }
    return y;
  });
}

TEST_F(OneSample, IsNoneWhereTheyDiffer) {
  expect_words(import_refusal(scaled({1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 7})));
}

// Two rows for each sample: 2 · batch meets 4.
TEST_F(OneSample, MayHaveSeveralRows) {
  OnnxWriter net;
  net.input("x", {2, 2, 3});
  net.integers("rows", {2}, {4, 3});
  net.integers("apart", {3}, {2, 2, 3});
  net.floats("factors", {4, 1}, {1, 2, 1, 2});
  net.node("Reshape", {"x", "rows"}, {"r"});
  net.node("Mul", {"r", "factors"}, {"s"});
  net.node("Reshape", {"s", "apart"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) {
    Values y = x;
    for (std::size_t i = 3; i < y.size(); ++i) {
      y[i] *= 2;
    }
    return y;
  });
}

TEST_F(OneSample, IsJoinedToEach) {
  OnnxWriter net;
  net.input("x", {2, 2, 3});
  net.floats("border", {2, 1, 3}, {7, 8, 9, 7, 8, 9});
  net.node("Concat", {"x", "border"}, {"y"}, {written::i("axis", 1)});
  net.output("y");
  expect_answers(net, [](const Values& x) {
    Values y = x;
    y.insert(y.end(), {7, 8, 9});
    return y;
  });
}

// Token types that are all 0, and a hidden state of zeros: rows of a table, and of a product with weights.
TEST_F(OneSample, MakesRowsForEach) {
  OnnxWriter net;
  net.input("x", {2, 2, 3});
  net.weight("types", {4, 3});
  net.integers("type", {2, 2}, {1, 3, 1, 3});
  net.node("Gather", {"types", "type"}, {"t"});
  net.node("Add", {"x", "t"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  const Values table = weight(network, "types");
  ASSERT_EQ(table.size(), 12U);
  expect_answers(network, [&](const Values& x) {
    Values y = x;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] += table[(i < 3 ? 3 : 6) + i];
    }
    return y;
  });
}

TEST_F(OneSample, IsMultipliedWithWeights) {
  OnnxWriter net;
  net.input("x", {2, 3});
  net.weight("w", {4, 3});
  net.integers("sizes", {2}, {2, 4});
  net.node("ConstantOfShape", {"sizes"}, {"ones"},
           {written::t("value", written::raw_tensor<float>("one", {1}, ElementType::f32, {1}))});
  net.node("MatMul", {"ones", "w"}, {"h"});
  net.node("Add", {"h", "x"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  const Values matrix = weight(network, "w");
  ASSERT_EQ(matrix.size(), 12U);
  expect_answers(network, [&](const Values& x) {
    Values y = x;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      y[i / 4] += matrix[i];  // of each feature in turn
    }
    return y;
  });
}

}  // namespace
}  // namespace bench::kernels::onnx
