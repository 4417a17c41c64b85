// Reshapes in which the batch is not the first dimension, at a batch of two.
#include <gtest/gtest.h>

#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using Views = OnnxAnswers;

// Three positions x batch x two features.
OnnxWriter positions_first(bool free_batch) {
  OnnxWriter net;
  net.input("x", {free_batch ? -1 : 1, 3, 2});
  net.node("Transpose", {"x"}, {"t"}, {written::ints("perm", {1, 0, 2})});
  return net;
}

// What is written down is of batch 1, or of any.
TEST_F(Views, OfPositionsAndBatchAsRows) {
  for (const bool free_batch : {false, true}) {
    SCOPED_TRACE(free_batch);
    OnnxWriter net = positions_first(free_batch);
    net.integers("rows", {2}, {free_batch ? -1 : 3, 2});
    net.integers("apart", {3}, {3, free_batch ? -1 : 1, 2});
    net.floats("factors", {3, 1, 1}, {1, 2, 3});
    net.node("Reshape", {"t", "rows"}, {"r"});
    net.node("Relu", {"r"}, {"positive"});
    net.node("Reshape", {"positive", "apart"}, {"a"});
    net.node("Mul", {"a", "factors"}, {"f"});
    net.node("Add", {"f", "t"}, {"s"});
    net.node("Transpose", {"s"}, {"y"}, {written::ints("perm", {1, 0, 2})});
    net.output("y");
    EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 3, 2}));
    expect_answers(net, [](const Values& x) {
      Values y = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] += std::max(x[i], 0.0F) * static_cast<float>(i / 2 + 1);
      }
      return y;
    });
  }
}

// Heads lie with the batch, as PyTorch's attention has them; written down for one sample, or for two.
TEST_F(Views, OfPositionsAndHeadsAsRows) {
  for (const std::int64_t samples : {1, 2}) {
    SCOPED_TRACE(samples);
    OnnxWriter net;
    net.input("x", {samples, 3, 4});
    net.integers("heads", {3}, {3, 2 * samples, 2});
    net.integers("rows", {2}, {3 * samples, 4});
    net.integers("apart", {3}, {3, samples, 4});
    net.floats("factors", {3, 1, 1}, {1, 2, 3});
    net.node("Transpose", {"x"}, {"t"}, {written::ints("perm", {1, 0, 2})});
    net.node("Reshape", {"t", "heads"}, {"h"});
    net.node("Transpose", {"h"}, {"heads_first"}, {written::ints("perm", {1, 0, 2})});
    net.node("Relu", {"heads_first"}, {"positive"});
    net.node("Transpose", {"positive"}, {"positions_first"}, {written::ints("perm", {1, 0, 2})});
    net.node("Reshape", {"positions_first", "rows"}, {"r"});
    net.node("Reshape", {"r", "apart"}, {"a"});
    net.node("Mul", {"a", "factors"}, {"f"});
    net.node("Transpose", {"f"}, {"y"}, {written::ints("perm", {1, 0, 2})});
    net.output("y");
    EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 3, 4}));
    expect_answers(net, [](const Values& x) {
      Values y = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] = std::max(x[i], 0.0F) * static_cast<float>(i / 4 + 1);
      }
      return y;
    });
  }
}

// A token that every sample has before its own, repeated for as many samples as the file was written for.
TEST_F(Views, OfATokenForEachSampleOfTheFile) {
  for (const std::int64_t samples : {1, 2}) {
    SCOPED_TRACE(samples);
    OnnxWriter net;
    net.input("x", {samples, 3, 2});
    net.floats("token", {1, 1, 2}, {5, 7});
    net.integers("each", {3}, {samples, 1, 2});
    net.node("Expand", {"token", "each"}, {"tokens"});
    net.node("Concat", {"tokens", "x"}, {"y"}, {written::i("axis", 1)});
    net.output("y");
    EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 4, 2}));
    expect_answers(net, [](const Values& x) {
      Values y{5, 7};
      y.insert(y.end(), x.begin(), x.end());
      return y;
    });
  }
}

// Rows that meet a factor for each position.
TEST_F(Views, OfRowsThatMeetAsManyOthers) {
  OnnxWriter net = positions_first(true);
  net.node("Flatten", {"t"}, {"r"}, {written::i("axis", 2)});
  net.floats("factors", {3, 1}, {1, 2, 3});
  net.integers("samples", {3}, {-1, 3, 2});
  net.node("Mul", {"r", "factors"}, {"f"});
  net.node("Reshape", {"f", "samples"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) {
    Values y = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] *= static_cast<float>(i / 2 + 1);
    }
    return y;
  });
}

}  // namespace
}  // namespace bench::kernels::onnx
