// Elements at known indices, by hand.
#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using Gathered = OnnxAnswers;

// Of x, batch x 3 x 4.
Values at(const Values& x, const std::vector<std::size_t>& places) {
  Values made;
  for (const std::size_t place : places) {
    made.push_back(x.at(place));
  }
  return made;
}

OnnxWriter with_axis(std::int64_t axis, const std::vector<std::int64_t>& dims,
                     const std::vector<std::int64_t>& indices, const char* op = "Gather") {
  OnnxWriter net;
  net.input("x", {1, 3, 4});
  net.integers("indices", dims, indices);
  net.node(op, {"x", "indices"}, {"y"}, {written::i("axis", axis)});
  net.output("y");
  return net;
}

TEST_F(Gathered, AlongADimension) {
  expect_answers(with_axis(1, {3}, {2, 0, 2}), [](const Values& x) {
    return at(x, {8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
  });
  expect_answers(with_axis(-1, {3}, {-1, 0, 1}), [](const Values& x) {
    return at(x, {3, 0, 1, 7, 4, 5, 11, 8, 9});
  });
}

TEST_F(Gathered, AtEvenSteps) {
  expect_answers(with_axis(2, {2}, {3, 1}), [](const Values& x) { return at(x, {3, 1, 7, 5, 11, 9}); });
  expect_answers(with_axis(2, {1}, {2}), [](const Values& x) { return at(x, {2, 6, 10}); });
}

TEST_F(Gathered, WithoutTheDimension) {
  const OnnxWriter net = with_axis(1, {}, {1});
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 4}));
  expect_answers(net, [](const Values& x) { return at(x, {4, 5, 6, 7}); });
}

TEST_F(Gathered, IntoSeveralDimensions) {
  const OnnxWriter net = with_axis(1, {2, 2}, {2, 0, 1, 0});
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 2, 2, 4}));
  expect_answers(net, [](const Values& x) {
    return at(x, {8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3});
  });
}

TEST_F(Gathered, ElementByElement) {
  expect_answers(with_axis(1, {1, 2, 3}, {0, 2, 1, -1, 0, 0}, "GatherElements"), [](const Values& x) {
    return at(x, {0, 9, 6, 8, 1, 2});
  });
  expect_answers(with_axis(2, {1, 3, 2}, {3, 3, 0, -2, 1, 0}, "GatherElements"), [](const Values& x) {
    return at(x, {3, 3, 4, 6, 9, 8});
  });
  // Alike for each row.
  expect_answers(with_axis(2, {1, 3, 2}, {2, 0, 2, 0, 2, 0}, "GatherElements"), [](const Values& x) {
    return at(x, {2, 0, 6, 4, 10, 8});
  });
}

TEST_F(Gathered, BeyondTheDimension) {
  expect_words(import_refusal(with_axis(1, {1}, {3})));
  expect_words(import_refusal(with_axis(1, {1}, {-4})));
  expect_words(import_refusal(with_axis(2, {1, 1, 1}, {4}, "GatherElements")));
  expect_words(import_refusal(with_axis(0, {1}, {0})));
}

// The samples are numbered as PyTorch's exports do: Range(0, Shape(x)[0]).
OnnxWriter with_numbers() {
  OnnxWriter net;
  net.input("x", {-1, 3, 2});
  net.integers("zero", {}, {0});
  net.integers("one", {}, {1});
  net.integers("last", {1}, {-1});
  net.node("Shape", {"x"}, {"shape"});
  net.node("Gather", {"shape", "zero"}, {"batch"});
  net.node("Range", {"zero", "batch", "one"}, {"samples"});
  net.node("Unsqueeze", {"samples", "last"}, {"numbers"});  // batch x 1
  return net;
}

// Rows of all samples; `op` of the sample's number and `operand` is where those of each begin.
OnnxWriter with_rows(const char* op, std::int64_t operand) {
  OnnxWriter net = with_numbers();
  net.integers("rows", {2}, {-1, 2});
  net.integers("operand", {}, {operand});
  net.integers("places", {2}, {2, 0});
  net.node("Reshape", {"x", "rows"}, {"all"});
  net.node(op, {"numbers", "operand"}, {"starts"});
  net.node("Add", {"starts", "places"}, {"indices"});
  net.node("Gather", {"all", "indices"}, {"y"}, {written::i("axis", 0)});
  net.output("y");
  return net;
}

// Those of sample s begin at 3 s.
TEST_F(Gathered, OtherRowsForEachSample) {
  const OnnxWriter net = with_rows("Mul", 3);
  EXPECT_EQ(output_shape(imported(net)), (Shape{kBatch, 2, 2}));
  expect_answers(net, [](const Values& x) { return at(x, {4, 5, 0, 1}); });
}

// From a start at 2 s, s or s / 2 they are another sample's.
TEST_F(Gathered, RowsOfAnotherSampleAreRefused) {
  for (const OnnxWriter& net : {with_rows("Mul", 2), with_rows("Mul", 1), with_rows("Div", 2),
                                with_rows("Mod", 2), with_rows("Mul", 0)}) {
    expect_words(import_refusal(net));
  }
}

// Elements (sample, 2), (sample, 0) and (sample, 1, 1).
TEST_F(Gathered, PlacesInEachSample) {
  for (const bool elements : {false, true}) {
    SCOPED_TRACE(elements);
    OnnxWriter net = with_numbers();
    net.integers("places", {1, 2}, {2, 0});
    net.integers("columns", {1, 2}, {1, -1});
    net.node("Unsqueeze", {"batch", "first"}, {"batches"});
    net.integers("first", {1}, {0});
    net.integers("two", {1}, {2});
    net.node("Concat", {"batches", "two"}, {"size"}, {written::i("axis", 0)});
    std::vector<std::string> all;
    for (const std::string name : {"numbers", "places", "columns"}) {
      if (elements || name != "columns") {
        net.node("Expand", {name, "size"}, {name + " repeated"});
        net.node("Unsqueeze", {name + " repeated", "last"}, {name + " apart"});
        all.push_back(name + " apart");
      }
    }
    net.node("Concat", all, {"indices"}, {written::i("axis", -1)});
    net.node("GatherND", {"x", "indices"}, {"y"});
    net.output("y");
    expect_answers(net, [&](const Values& x) { return elements ? at(x, {5, 1}) : at(x, {4, 5, 0, 1}); });
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
