// Damaged and hostile files: each is a network or is refused in one sentence, whatever its bytes.
#include <cstdlib>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/mutations.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::StartsWith;

// Something of everything that the reader knows.
std::string varied_network() {
  OnnxWriter branch;
  branch.node("Neg", {"conv"}, {"branch_y"});
  branch.output("branch_y");
  OnnxWriter net;
  net.input("x", {-1, 3, 8, 8});
  net.weight("w", {4, 3, 3, 3});
  net.integers("shape", {2}, {0, -1});
  net.initializer(written::tensor("typed", {3}, ElementType::i32) + written::packed(5, {1, -2, 3}));
  net.initializer(written::tensor("reals", {2}, ElementType::f32) + written::real(4, 1) +
                  written::real(4, 2));
  net.add_to_graph(
      written::bytes(15, written::bytes(1, written::raw_tensor<float>("sparse", {1}, ElementType::f32, {1})) +
                             written::packed(3, {4})));
  net.node("Conv", {"x", "w"}, {"conv"}, {written::ints("pads", {1, 1, 1, 1}), written::i("group", 1)});
  net.node("F", {"conv", ""}, {"f"}, {written::f("alpha", 0.5F)}, {.name = "call", .domain = "local"});
  net.node("If", {"f"}, {"if"}, {written::g("then_branch", branch.graph())});
  net.node("Reshape", {"if", "shape"}, {"y"},
           {written::s("mode", "text"), written::floats("scales", {1, 2})});
  net.add_to_graph(written::bytes(13, written::value("conv", {-1, 4, 8, 8})));
  net.output("y", {-1, 256});
  net.function(
      written::function("local", "F", {"a", "b"}, {"c"},
                        {written::node("Relu", {"a"}, {"t"}, {written::reference("alpha", "alpha", 1)}),
                         written::node("Add", {"t", "b"}, {"c"})},
                        {written::f("alpha", 1)}));
  return net.bytes();
}

TEST(OnnxHostile, CutAtEveryLength) {
  for (const std::string& whole : {varied_network(), content_of(data_path("tv_alexnet.onnx"))}) {
    ASSERT_EQ(refusal_of(whole), "");
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::string refusal = refusal_of(whole.substr(0, length));
      // The operators' version is after the graph; after that, only functions that something calls are
      // missed.
      if (!refusal.empty()) {
        EXPECT_THAT(refusal, ::testing::StartsWith("--onnx: 'net.onnx' ")) << length;
        EXPECT_THAT(refusal, ::testing::Not(::testing::HasSubstr("\n"))) << length;
      } else {
        EXPECT_GT(length, whole.rfind('y')) << "cut at " << length;
      }
    }
  }
}

// BENCH_ONNX_MUTATIONS: how many, for a longer run.
TEST(OnnxHostile, MutatedInAFewBytes) {
  const char* wanted = std::getenv("BENCH_ONNX_MUTATIONS");
  const int count = wanted == nullptr ? 5'000 : std::atoi(wanted);
  const std::string originals[] = {varied_network(), content_of(data_path("tv_alexnet.onnx"))};
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    const std::string bytes = mutated(originals[i % 4 == 0 ? 1 : 0], random);
    const std::string refusal = refusal_of(bytes);
    refused += refusal.empty() ? 0 : 1;
    ASSERT_THAT(refusal, testing::AnyOf("", StartsWith("--onnx: 'net.onnx' "))) << i;
    ASSERT_EQ(refusal.find_first_of("\n\r\x1b"), std::string::npos) << i;
  }
  // Both happen, or the mutations prove nothing.
  EXPECT_GT(refused, count / 10);
  EXPECT_LT(refused, count);
}

std::string repeated(const std::string& part, int count) {
  std::string all;
  all.reserve(part.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    all += part;
  }
  return all;
}

TEST(OnnxHostile, AMillionNodes) {
  OnnxWriter net;
  net.add_to_graph(repeated(written::bytes(1, written::node("Relu", {"x"}, {"y"})), 1'000'000));
  expect_words(refusal_of(net.bytes()));
}

// Few nodes of many inputs take as long as many nodes.
TEST(OnnxHostile, AMillionInputs) {
  OnnxWriter net;
  net.input("x", {1, 4});
  net.node("Sum", std::vector<std::string>(1'000'000, "x"), {"y"});
  net.output("y");
  expect_words(refusal_of(net.bytes()));
}

// The last is first in the file, so that every node has to be moved.
TEST(OnnxHostile, ALongChainBackwards) {
  OnnxWriter net;
  net.input("n0", {1});
  constexpr int kNodes = 10'000;
  for (int i = kNodes; i > 0; --i) {
    net.node("Relu", {"n" + std::to_string(i - 1)}, {"n" + std::to_string(i)});
  }
  net.output("n" + std::to_string(kNodes));
  const Model model = net.parse();
  EXPECT_EQ(model.graph.nodes.front().outputs.at(0), "n1");
  EXPECT_EQ(model.graph.nodes.back().outputs.at(0), "n" + std::to_string(kNodes));
}

TEST(OnnxHostile, GraphsInGraphs) {
  std::string graph;
  for (int depth = 0; depth < 1'000; ++depth) {
    graph = written::bytes(1, written::node("If", {}, {}, {written::g("then_branch", graph)}));
  }
  OnnxWriter net;
  net.add_to_graph(graph);
  expect_words(refusal_of(net.bytes()));
}

// Two bytes of the file each, and hundreds in memory.
TEST(OnnxHostile, ManyEmptyParts) {
  OnnxWriter attributes;
  attributes.add_to_graph(
      written::bytes(1, written::bytes(4, "Op") + repeated(written::bytes(5, ""), 500'000)));
  expect_words(refusal_of(attributes.bytes()));
  OnnxWriter nodes;
  nodes.add_to_graph(repeated(written::bytes(1, ""), 10));
  expect_words(refusal_of(nodes.bytes()));
  OnnxWriter graphs;
  graphs.add_to_model(repeated(written::bytes(7, ""), 10));
  expect_words(refusal_of(graphs.bytes()));
}

TEST(OnnxHostile, NamesWithControlCharacters) {
  OnnxWriter net;
  net.node("Re\x1b[2Jlu\n", {std::string("a\0b", 3) + "\xFF"}, {"y"}, {}, {.name = "\r", .domain = ""});
  net.output("y");
  EXPECT_EQ(refusal_of(net.bytes()),
            "--onnx: 'net.onnx' is incomplete: node '\\r' (Re\\x1b[2Jlu\\n) reads 'a\\x00b\\xff', which "
            "nothing makes; "
            "export it again");
}

}  // namespace
}  // namespace bench::kernels::onnx
