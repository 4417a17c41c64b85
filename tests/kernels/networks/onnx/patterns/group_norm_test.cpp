#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/networks/onnx/constants/attributes.h"
#include "tests/kernels/networks/onnx/pattern_net.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;

// PyTorch's group norm before opset 18, of 8 channels in 4 groups.
struct GroupNormForm {
  bool shape_written = false;
  bool unsqueezed = false;
  bool affine = true;
  std::vector<std::int64_t> sizes{0, 4, -1};
  float one = 1;
  std::vector<std::string> part{};  // attributes of Shape
};

Model group_norm(const GroupNormForm& form) {
  OnnxWriter net;
  net.input("x", {-1, 8, 5, 6});
  net.integers("groups", {static_cast<std::int64_t>(form.sizes.size())}, form.sizes);
  net.integers("target", {4}, {1, 8, 5, 6});
  net.floats("ones", {4}, {1, 1, form.one, 1});
  net.floats("zeros", {4}, {0, 0, 0, 0});
  net.weight("gamma", {8, 1, 1});
  net.weight("beta", {8, 1, 1});
  net.weight("gamma_vector", {8});
  net.integers("axes", {2}, {1, 2});
  net.node("Reshape", {"x", "groups"}, {"grouped"});
  net.node("InstanceNormalization", {"grouped", "ones", "zeros"}, {"normalised"},
           {written::f("epsilon", 1e-4F)});
  net.node("Shape", {"x"}, {"shape"}, form.part);
  net.node("Reshape", {"normalised", form.shape_written ? "target" : "shape"}, {"back"});
  if (form.affine) {
    net.node("Unsqueeze", {"gamma_vector", "axes"}, {"unsqueezed"});
    net.node("Mul", {"back", form.unsqueezed ? "unsqueezed" : "gamma"}, {"scaled"});
    net.node("Add", {"beta", "scaled"}, {"result"});
  } else {
    net.node("Identity", {"back"}, {"result"});
  }
  net.node("Softmax", {"result"}, {"y"});
  net.output("y");
  Model model = net.parse();
  recognise_patterns(model);
  return model;
}

TEST(Patterns, RecogniseGroupNorm) {
  const Model model = group_norm({});
  EXPECT_EQ(inputs_of(model, "bench.GroupNorm"), (std::vector<std::string>{"x", "gamma", "beta"}));
  const auto at = std::ranges::find(model.graph.nodes, "bench.GroupNorm", label);
  EXPECT_EQ(integer_of(*at, "groups", 0), 4);
  EXPECT_FLOAT_EQ(number_of(*at, "epsilon", 0), 1e-4F);
  EXPECT_EQ(at->name, "result");
  EXPECT_THAT(labels(model), testing::Not(Contains("Reshape")));

  EXPECT_EQ(inputs_of(group_norm({.unsqueezed = true}), "bench.GroupNorm"),
            (std::vector<std::string>{"x", "gamma_vector", "beta"}));
  EXPECT_EQ(inputs_of(group_norm({.affine = false}), "bench.GroupNorm"), (std::vector<std::string>{"x"}));
  // As the dynamo exporter writes it.
  EXPECT_THAT(labels(group_norm({.part = {written::i("start", 0)}})), Contains("bench.GroupNorm"));
  // A shape that is written down stays, before the norm.
  const Model written = group_norm({.shape_written = true});
  EXPECT_EQ(inputs_of(written, "Reshape"), (std::vector<std::string>{"x", "target"}));
  EXPECT_EQ(inputs_of(written, "bench.GroupNorm"), (std::vector<std::string>{"back", "gamma", "beta"}));
}

TEST(Patterns, LeaveOtherInstanceNorms) {
  for (const GroupNormForm& form :
       {GroupNormForm{.one = 2.0F}, GroupNormForm{.shape_written = true, .sizes = {0, 3, -1}},
        GroupNormForm{.shape_written = true, .affine = false}, GroupNormForm{.sizes = {0, 2, 2, -1}},
        GroupNormForm{.part = {written::i("start", 1)}}, GroupNormForm{.part = {written::i("end", 3)}}}) {
    EXPECT_THAT(labels(group_norm(form)), Contains("InstanceNormalization"));
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
