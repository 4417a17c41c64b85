// Elements that are written at known places, by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using Scattered = OnnxAnswers;

// Writes 2 · x[:, :, :2] into x, batch x 2 x 3.
OnnxWriter with_updates(std::vector<std::int64_t> dims = {1, 2, 3}) {
  OnnxWriter net;
  net.input("x", dims);
  net.integers("from", {1}, {0});
  net.integers("to", {1}, {2});
  net.integers("axis", {1}, {2});
  net.floats("two", {}, {2});
  net.node("Slice", {"x", "from", "to", "axis"}, {"part"});
  net.node("Mul", {"part", "two"}, {"updates"});
  net.output("y");
  return net;
}

TEST_F(Scattered, ElementsAlongADimension) {
  OnnxWriter net = with_updates();
  net.integers("indices", {1, 2, 2}, {2, 0, 1, -1});
  net.node("ScatterElements", {"x", "indices", "updates"}, {"y"}, {written::i("axis", 2)});
  expect_answers(net,
                 [](const Values& x) { return Values{2 * x[1], x[1], 2 * x[0], x[3], 2 * x[3], 2 * x[4]}; });
}

// The indices have fewer columns than x.
TEST_F(Scattered, ElementsAlongAnEarlierDimension) {
  OnnxWriter net = with_updates();
  net.integers("indices", {1, 2, 2}, {1, 0, 0, 1});
  net.node("ScatterElements", {"x", "indices", "updates"}, {"y"}, {written::i("axis", 1)});
  expect_answers(net,
                 [](const Values& x) { return Values{2 * x[3], 2 * x[1], x[2], 2 * x[0], 2 * x[4], x[5]}; });
}

// Of the second axis, the samples apart: the batch of the file is free.
TEST_F(Scattered, ElementsOfEverySample) {
  OnnxWriter net = with_updates({-1, 2, 3});
  net.integers("places", {1, 2, 2}, {1, 0, 0, 1});
  net.node("Shape", {"updates"}, {"sizes"});
  net.node("Expand", {"places", "sizes"}, {"indices"});
  net.node("ScatterElements", {"x", "indices", "updates"}, {"y"}, {written::i("axis", -2)});
  expect_answers(net,
                 [](const Values& x) { return Values{2 * x[3], 2 * x[1], x[2], 2 * x[0], 2 * x[4], x[5]}; });
}

// Whole rows; the last of two that meet stays. The updates' rows hold the batch.
TEST_F(Scattered, RowsAtPlacesOfTheOnlySample) {
  OnnxWriter net;
  net.input("x", {1, 3, 2});
  net.integers("indices", {3, 2}, {0, 2, 0, 1, 0, -1});
  net.integers("rows", {2}, {3, 2});
  net.floats("minus", {}, {-1});
  net.node("Mul", {"x", "minus"}, {"negative"});
  net.node("Reshape", {"negative", "rows"}, {"updates"});
  net.node("ScatterND", {"x", "indices", "updates"}, {"y"});
  net.output("y");
  expect_answers(net, [](const Values& x) { return Values{x[0], x[1], -x[2], -x[3], -x[4], -x[5]}; });
}

// A table of constants, of which some are replaced: as masks are made. Added to x, batch x 2 x 3.
class ConstantTable : public OnnxAnswers {
 protected:
  static OnnxWriter table() {
    OnnxWriter net;
    net.input("x", {-1, 2, 3});
    net.floats("table", {2, 3}, {1, 2, 3, 4, 5, 6});
    net.node("Add", {"x", "scattered"}, {"y"});
    net.output("y");
    return net;
  }
  void expect_added(const OnnxWriter& net, const Values& table) {
    expect_answers(net, [&](Values x) {
      std::ranges::transform(x, table, x.begin(), std::plus<>());
      return x;
    });
  }
};

TEST_F(ConstantTable, HasElementsReplaced) {
  OnnxWriter net = table();
  net.integers("indices", {2, 2}, {2, 0, 1, -3});
  net.floats("updates", {2, 2}, {10, 20, 30, 40});
  net.node("ScatterElements", {"table", "indices", "updates"}, {"scattered"}, {written::i("axis", 1)});
  expect_added(net, {20, 2, 10, 40, 30, 6});
}

TEST_F(ConstantTable, HasRowsReplaced) {
  OnnxWriter net = table();
  net.integers("indices", {1, 1}, {-1});
  net.floats("updates", {1, 3}, {10, 20, 30});
  net.node("ScatterND", {"table", "indices", "updates"}, {"scattered"});
  expect_added(net, {1, 2, 3, 10, 20, 30});
}

TEST_F(ConstantTable, HasPlacesReplaced) {
  OnnxWriter net = table();
  net.integers("indices", {3, 2}, {0, 2, 1, 0, 0, -2});
  net.floats("updates", {3}, {10, 20, 30});
  net.node("ScatterND", {"table", "indices", "updates"}, {"scattered"});
  expect_added(net, {1, 30, 10, 20, 5, 6});
}

// As exporters write table[[1, 0], 1:] = …: the indices along each dimension, repeated to every place.
TEST_F(ConstantTable, HasABlockReplaced) {
  OnnxWriter net = table();
  net.integers("rows", {2, 1}, {1, 0});
  net.integers("columns", {2}, {1, 2});
  net.integers("places", {2}, {2, 2});
  net.integers("last", {1}, {-1});
  net.floats("updates", {2, 2}, {10, 20, 30, 40});
  for (const std::string indices : {"rows", "columns"}) {
    net.node("Expand", {indices, "places"}, {indices + " repeated"});
    net.node("Unsqueeze", {indices + " repeated", "last"}, {indices + " apart"});
  }
  net.node("Concat", {"rows apart", "columns apart"}, {"indices"}, {written::i("axis", -1)});
  net.node("ScatterND", {"table", "indices", "updates"}, {"scattered"});
  expect_added(net, {1, 30, 40, 4, 10, 20});
}

TEST_F(Scattered, RefusedInOneSentence) {
  const auto why = [](const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& indices,
                      std::int64_t axis, std::vector<std::int64_t> of_x = {1, 2, 3},
                      const char* reduction = "none") {
    OnnxWriter net = with_updates(std::move(of_x));
    net.integers("indices", dims, indices);
    net.node("ScatterElements", {"x", "indices", "updates"}, {"y"},
             {written::i("axis", axis), written::s("reduction", reduction)});
    return import_refusal(net);
  };
  const std::vector<std::int64_t> four{0, 1, 1, 0};
  EXPECT_EQ(why({1, 2, 2}, four, 2), "imported");
  expect_words(why({1, 2, 2}, {0, 1, 1, 3}, 2));
  expect_words(why({1, 2, 2}, four, 2, {1, 2, 3}, "add"));
  expect_words(why({1, 2, 2}, {0, 0, 0, 0}, 0));
  expect_words(why({1, 2, 2}, four, 2, {4, 2, 3}));
  expect_words(why({2, 2}, four, 1));
  expect_words(why({1, 1, 4}, four, 2));
}

}  // namespace
}  // namespace bench::kernels::onnx
