#include "kernels/networks/onnx/mask_sense.h"

#include <gtest/gtest.h>

#include "tests/kernels/networks/onnx/imported.h"

namespace bench::kernels::onnx {
namespace {

// Scores that a boolean mask hides, after some nodes: "m" is the mask at their end.
std::string content_of_mask(const std::vector<std::vector<std::string>>& nodes) {
  OnnxWriter net;
  net.input("x", {1, 4});
  net.input("mask", {1, 4}, ElementType::boolean);
  net.floats("one", {}, {1});
  net.floats("zero", {}, {0});
  net.floats("low", {}, {-1e9F});
  for (const std::vector<std::string>& node : nodes) {
    const std::vector<std::string> inputs(node.begin() + 2, node.end());
    net.node(node[0], inputs, {node[1]},
             node[0] == "Cast" ? std::vector{written::i("to", 1)} : std::vector<std::string>{});
  }
  net.node("Softmax", {"scores"}, {"y"});
  net.output("y");
  return imported(net).inputs.back().content;
}

TEST(MaskSense, IsThatOfTheNumberWhichHides) {
  const std::string keeps = "ones (a mask)";
  const std::string hides = "zeros (a mask that hides where it is true)";
  EXPECT_EQ(content_of_mask({{"Where", "scores", "mask", "low", "x"}}), hides);
  EXPECT_EQ(content_of_mask({{"Where", "scores", "mask", "x", "low"}}), keeps);
  EXPECT_EQ(content_of_mask({{"Not", "m", "mask"}, {"Where", "scores", "m", "low", "x"}}), keeps);
  EXPECT_EQ(content_of_mask({{"Not", "m", "mask"}, {"Where", "scores", "m", "x", "low"}}), hides);
  EXPECT_EQ(content_of_mask({{"Cast", "c", "mask"}, {"Mul", "m", "c", "low"}, {"Add", "scores", "x", "m"}}),
            hides);
  EXPECT_EQ(content_of_mask({{"Cast", "c", "mask"},
                             {"Sub", "r", "one", "c"},
                             {"Mul", "m", "r", "low"},
                             {"Add", "scores", "x", "m"}}),
            keeps);
  EXPECT_EQ(content_of_mask({{"Where", "scores", "mask", "x", "zero"}}), keeps);
  EXPECT_EQ(content_of_mask({{"Where", "scores", "mask", "zero", "x"}}), hides);
  EXPECT_EQ(content_of_mask({{"Where", "m", "mask", "zero", "low"}, {"Add", "scores", "x", "m"}}), keeps);
  EXPECT_EQ(content_of_mask({{"Cast", "m", "mask"}, {"Mul", "scores", "x", "m"}}), keeps);
  EXPECT_EQ(content_of_mask({{"Not", "n", "mask"}, {"Cast", "m", "n"}, {"Mul", "scores", "x", "m"}}), hides);
  EXPECT_EQ(content_of_mask({{"Cast", "c", "mask"}, {"Sub", "m", "one", "c"}, {"Mul", "scores", "m", "x"}}),
            hides);
}

}  // namespace
}  // namespace bench::kernels::onnx
