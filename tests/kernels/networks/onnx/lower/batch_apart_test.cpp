// Dimensions of k · batch: each sample's elements meet others, are cut and are joined by themselves.
#include "kernels/networks/onnx/lower/batch_apart.h"

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using BatchApart = OnnxAnswers;

// Rows of three for each sample, as the first dimension.
OnnxWriter rows() {
  OnnxWriter net;
  net.input("x", {-1, 3, 2});
  net.integers("rows", {2}, {-1, 2});
  net.integers("samples", {3}, {-1, 3, 2});
  net.node("Reshape", {"x", "rows"}, {"r"});
  return net;
}

Values mapped(const Values& x, const std::function<float(std::size_t)>& function) {
  Values made;
  for (std::size_t i = 0; i < x.size(); ++i) {
    made.push_back(function(i));
  }
  return made;
}

TEST_F(BatchApart, MeetsAsManyOthers) {
  OnnxWriter net = rows();
  net.floats("factors", {3, 1}, {1, 2, 3});
  net.node("Mul", {"r", "factors"}, {"y"});
  net.output("y");
  EXPECT_EQ(output_shape(imported(net)), (Shape{{3, true}, 2}));
  expect_answers(net, [](const Values& x) {
    return mapped(x, [&](std::size_t i) { return x[i] * static_cast<float>(i / 2 + 1); });
  });
}

TEST_F(BatchApart, MeetsTheBatch) {
  OnnxWriter net = rows();
  net.integers("axis", {1}, {1});
  net.node("ReduceSum", {"x", "axis"}, {"sums"}, {written::i("keepdims", 0)});
  net.floats("zeros", {3, 2}, {0, 0, 0, 0, 0, 0});
  net.node("Less", {"zeros", "r"}, {"more"});
  net.node("Where", {"more", "r", "sums"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) {
    return mapped(x, [&](std::size_t i) { return x[i] > 0 ? x[i] : x[i % 2] + x[i % 2 + 2] + x[i % 2 + 4]; });
  });
}

TEST_F(BatchApart, IsRepeatedForEachSample) {
  OnnxWriter net = rows();
  net.weight("w", {3, 1});
  net.node("Shape", {"r"}, {"sizes"});
  net.node("Expand", {"w", "sizes"}, {"wide"});
  net.node("Concat", {"r", "wide", "w"}, {"y"}, {written::i("axis", 1)});
  net.output("y");
  const ImportedNetwork network = imported(net);
  const Values w = weight(network, "w");
  expect_answers(network, [&](const Values& x) {
    Values made;
    for (std::size_t row = 0; row < 3; ++row) {
      made.insert(made.end(), {x[2 * row], x[2 * row + 1], w[row], w[row], w[row]});
    }
    return made;
  });
}

TEST_F(BatchApart, IsCutWithinEachSample) {
  OnnxWriter net = rows();
  net.integers("from", {1}, {2});
  net.integers("to", {1}, {-9});
  net.integers("axis", {1}, {0});
  net.integers("back", {1}, {-2});
  net.node("Slice", {"r", "from", "to", "axis", "back"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_EQ(output_shape(network), (Shape{{2, true}, 2}));
  EXPECT_THAT(network.assumptions,
              ::testing::Contains("A part of each sample is taken, not of the batch, by 'y'."));
  expect_answers(network, [](const Values& x) { return Values{x[4], x[5], x[0], x[1]}; });
}

// The file's numbers hold four samples.
TEST_F(BatchApart, IsCutWhereTheFileHasSeveralSamples) {
  OnnxWriter net;
  net.input("x", {4, 3, 2});
  net.integers("rows", {2}, {12, 2});
  net.integers("from", {1}, {4});
  net.integers("to", {1}, {12});
  net.integers("axis", {1}, {0});
  net.node("Reshape", {"x", "rows"}, {"r"});
  net.node("Slice", {"r", "from", "to", "axis"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) { return Values{x[2], x[3], x[4], x[5]}; });
}

TEST_F(BatchApart, IsNotCutWithinARowOfSamples) {
  OnnxWriter net;
  net.input("x", {4, 3, 2});
  net.integers("rows", {2}, {12, 2});
  net.integers("from", {1}, {5});
  net.integers("to", {1}, {12});
  net.integers("axis", {1}, {0});
  net.node("Reshape", {"x", "rows"}, {"r"});
  net.node("Slice", {"r", "from", "to", "axis"}, {"y"});
  net.output("y");
  expect_words(import_refusal(net));
}

TEST_F(BatchApart, IsSplitAndJoined) {
  OnnxWriter net = rows();
  net.integers("sizes", {2}, {1, 2});
  net.node("Split", {"r", "sizes"}, {"first", "others"}, {written::i("axis", 0)});
  net.node("Concat", {"others", "first"}, {"turned"}, {written::i("axis", 0)});
  net.node("Reshape", {"turned", "samples"}, {"y"});
  net.output("y");
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 3, 2}));
  expect_answers(net, [](const Values& x) { return Values{x[2], x[3], x[4], x[5], x[0], x[1]}; });
}

TEST_F(BatchApart, IsAPartOfVolumes) {
  OnnxWriter net;
  net.input("x", {-1, 2, 1, 2, 2});
  net.integers("merged", {5}, {-1, 1, 1, 2, 2});
  net.weight("w", {1, 1, 1, 1, 1});
  net.node("Reshape", {"x", "merged"}, {"volumes"});
  net.node("Conv", {"volumes", "w"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  EXPECT_EQ(output_shape(network), (Shape{{2, true}, 1, 1, 2, 2}));
  const float w = weight(network, "w").at(0);
  expect_answers(network,
                 [&](const Values& x) { return mapped(x, [&](std::size_t i) { return x[i] * w; }); });
}

}  // namespace
}  // namespace bench::kernels::onnx
