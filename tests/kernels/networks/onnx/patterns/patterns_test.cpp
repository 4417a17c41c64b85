#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/networks/onnx/pattern_net.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::SizeIs;

TEST(Patterns, TakeLongChains) {
  OnnxWriter net;
  net.input("x", {-1, 8});
  std::string last = "x";
  for (int i = 0; i < 20'000; ++i) {
    const std::string number = std::to_string(i);
    net.node("Sigmoid", {last}, {"gate" + number});
    net.node("Mul", {last, "gate" + number}, {"value" + number});
    last = "value" + number;
  }
  net.output(last);
  Model model = net.parse();
  recognise_patterns(model);
  EXPECT_THAT(model.graph.nodes, SizeIs(20'000));
  EXPECT_EQ(label(model.graph.nodes.back()), "bench.Silu");
}

TEST(Patterns, TakeNodesThatLackInputs) {
  for (const char* op :
       {"Clip", "Erf", "Sqrt", "Pow", "InstanceNormalization", "HardSigmoid", "ReduceMean", "Add"}) {
    OnnxWriter net;
    net.input("x", {-1, 8});
    net.node(op, {}, {"a"});
    net.node(op, {"", "x"}, {"b"});
    net.node("Sqrt", {"a"}, {"c"});
    net.node("Clip", {"b"}, {"d"});
    net.node("InstanceNormalization", {"a", "b", "c"}, {"e"});
    for (const char* value : {"c", "d", "e"}) {
      net.output(value);
    }
    Model model = net.parse();
    const std::size_t nodes = model.graph.nodes.size();
    recognise_patterns(model);
    EXPECT_EQ(model.graph.nodes.size(), nodes) << op;
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
