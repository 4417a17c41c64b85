#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/networks/onnx/reader/refusal.h"
#include "kernels/networks/onnx/reader/source.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/without_path.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <class T>
std::vector<T> values(const Tensor& tensor) {
  std::vector<T> all(tensor.bytes.size() / sizeof(T));
  std::memcpy(all.data(), tensor.bytes.data(), all.size() * sizeof(T));
  return all;
}

// A network of one Relu with the initializer, which nothing reads.
std::string with_initializer(const std::string& tensor) {
  OnnxWriter net;
  net.input("x", {1});
  net.initializer(tensor);
  net.node("Relu", {"x"}, {"y"});
  net.output("y");
  return net.bytes();
}

Tensor read_back(const std::string& tensor) {
  return parsed(with_initializer(tensor)).graph.initializers.at(0);
}

TEST(OnnxReader, ReadsAnExportedNetwork) {
  const Model model = read_model(data_path("resnet18.onnx"));
  EXPECT_EQ(model.producer, "pytorch 1.13.0");
  EXPECT_EQ(model.opsets.at(""), 17);
  EXPECT_THAT(model.graph.nodes, SizeIs(49));
  EXPECT_THAT(model.graph.initializers, SizeIs(42));
  ASSERT_THAT(model.graph.inputs, SizeIs(1));
  EXPECT_EQ(model.graph.inputs[0].type, ElementType::f32);
  ASSERT_TRUE(model.graph.inputs[0].dims);
  EXPECT_THAT(*model.graph.inputs[0].dims, SizeIs(4));
  const Node& conv = model.graph.nodes[0];
  EXPECT_EQ(conv.op, "Conv");
  ASSERT_NE(conv.find("strides"), nullptr);
  EXPECT_THAT(conv.find("strides")->ints, ElementsAre(2, 2));
  EXPECT_EQ(conv.find("no such attribute"), nullptr);
}

TEST(OnnxReader, ReadsEveryKindOfAttribute) {
  OnnxWriter inner;
  inner.node("Relu", {"x"}, {"r"});
  inner.output("r");
  OnnxWriter net;
  net.input("x", {-1, 3});
  net.node("Op", {"x", ""}, {"y"},
           {written::f("f", 0.5F), written::i("i", -3), written::s("s", "text"),
            written::t("t", written::raw_tensor<std::int64_t>("", {2}, ElementType::i64, {7, 8})),
            written::g("g", inner.graph()), written::floats("floats", {1, 2}), written::ints("ints", {3, 4})},
           {.name = "node", .domain = "ai.onnx"});
  net.output("y");
  const Model model = net.parse();
  const Node& node = model.graph.nodes.at(0);
  EXPECT_EQ(node.name, "node");
  EXPECT_EQ(node.domain, "");
  EXPECT_THAT(node.inputs, ElementsAre("x", ""));
  EXPECT_EQ(node.find("f")->f, 0.5F);
  EXPECT_EQ(node.find("i")->i, -3);
  EXPECT_EQ(node.find("s")->s, "text");
  EXPECT_THAT(values<std::int64_t>(*node.find("t")->tensor), ElementsAre(7, 8));
  EXPECT_EQ(node.find("g")->graph->nodes.at(0).op, "Relu");
  EXPECT_THAT(node.find("floats")->floats, ElementsAre(1, 2));
  EXPECT_THAT(node.find("ints")->ints, ElementsAre(3, 4));
  const auto& dims = model.graph.inputs.at(0).dims.value();
  EXPECT_FALSE(dims.at(0).size);
  EXPECT_EQ(dims.at(0).symbol, "n0");
  EXPECT_EQ(dims.at(1).size, 3);
}

TEST(OnnxReader, FillsInTheZerosThatProto3LeavesOut) {
  OnnxWriter net;
  net.input("x", {1});
  net.node("Op", {"x"}, {"y"},
           {written::attribute("f", 1, ""), written::attribute("i", 2, ""), written::attribute("s", 3, "")});
  net.output("y");
  const Model model = net.parse();
  const Node& node = model.graph.nodes.at(0);
  EXPECT_EQ(node.find("f")->f, 0.0F);
  EXPECT_EQ(node.find("i")->i, 0);
  EXPECT_EQ(node.find("s")->s, "");
  EXPECT_FALSE(node.find("s")->i);
}

TEST(OnnxReader, TakesInitializersOutOfTheInputs) {
  OnnxWriter net;
  net.input("x", {1});
  net.input("w", {1});
  net.weight("w", {1});
  net.node("Add", {"x", "w"}, {"y"});
  net.output("y");
  const Model model = net.parse();
  ASSERT_THAT(model.graph.inputs, SizeIs(1));
  EXPECT_EQ(model.graph.inputs[0].name, "x");
}

TEST(OnnxReader, ReadsElementsFromTheFieldOfTheirType) {
  using written::bytes;
  using written::packed;
  using written::tensor;
  EXPECT_THAT(values<float>(read_back(tensor("t", {2}, ElementType::f32) +
                                      bytes(4, written::raw(std::vector<float>{1.5F, 2})))),
              ElementsAre(1.5F, 2));
  EXPECT_THAT(values<float>(
                  read_back(tensor("t", {2}, ElementType::f32) + written::real(4, 3) + written::real(4, 4))),
              ElementsAre(3, 4));
  EXPECT_THAT(values<std::int64_t>(read_back(tensor("t", {3}, ElementType::i64) + packed(7, {-1, 2}) +
                                             written::integer(7, 3))),
              ElementsAre(-1, 2, 3));
  EXPECT_THAT(values<std::int32_t>(read_back(tensor("t", {1}, ElementType::i32) + packed(5, {-9}))),
              ElementsAre(-9));
  EXPECT_THAT(values<std::uint8_t>(read_back(tensor("t", {2}, ElementType::boolean) + packed(5, {0, 1}))),
              ElementsAre(0, 1));
  EXPECT_THAT(values<std::uint16_t>(read_back(tensor("t", {1}, ElementType::f16) + packed(5, {0x3C00}))),
              ElementsAre(0x3C00));
  EXPECT_THAT(values<double>(read_back(tensor("t", {1}, ElementType::f64) +
                                       bytes(10, written::raw(std::vector<double>{0.25})))),
              ElementsAre(0.25));
  EXPECT_THAT(values<std::uint32_t>(read_back(tensor("t", {1}, ElementType::u32) + packed(11, {5}))),
              ElementsAre(5));
  EXPECT_THAT(
      values<float>(read_back(tensor("t", {}, ElementType::f32) + bytes(9, written::raw<float>({6})))),
      ElementsAre(6));
}

TEST(OnnxReader, LeavesElementsThatItDoesNotHaveExternal) {
  EXPECT_TRUE(read_back(written::external_tensor("t", {1000, 1000})).external);
  EXPECT_TRUE(read_back(written::tensor("t", {1}, ElementType::string) + written::bytes(6, "text")).external);
  const Tensor float8 =
      read_back(written::tensor("t", {1}, static_cast<ElementType>(17)) + written::bytes(9, "1"));
  EXPECT_TRUE(float8.external);
  EXPECT_FALSE(float8.range);
  const Tensor sparse =
      parsed([] {
        OnnxWriter net;
        net.add_to_graph(written::bytes(
            15, written::bytes(1, written::raw_tensor<float>("t", {1}, ElementType::f32, {1})) +
                    written::packed(3, {4, 5})));
        net.node("Relu", {"t"}, {"y"});
        net.output("y");
        return net.bytes();
      }())
          .graph.initializers.at(0);
  EXPECT_TRUE(sparse.external);
  EXPECT_THAT(sparse.dims, ElementsAre(4, 5));
  EXPECT_THAT(sparse.bytes, IsEmpty());
}

TEST(OnnxReader, ReadsTheSmallestTensorsWithinItsBounds) {
  OnnxWriter net;
  const std::int64_t count = 1 << 18U;  // of floats: 1 MiB
  for (int i = 0; i < 30; ++i) {
    net.floats("large" + std::to_string(i), {count}, std::vector<float>(count, 1));
  }
  net.floats("too large", {3 * count}, std::vector<float>(3 * count, 1));
  net.integers("small", {2}, {4, 5});
  net.node("Relu", {"large0"}, {"y"});
  net.output("y");
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : net.parse().graph.initializers) {
    EXPECT_EQ(tensor.external, tensor.bytes.empty()) << tensor.name;
    EXPECT_TRUE(tensor.range) << tensor.name;
    bytes += tensor.bytes.size();
    if (tensor.name == "small") {
      EXPECT_THAT(values<std::int64_t>(tensor), ElementsAre(4, 5));
    }
    if (tensor.name == "too large") {
      EXPECT_TRUE(tensor.external);
    }
  }
  EXPECT_EQ(bytes, (23U << 20U) + 16U);
}

TEST(OnnxReader, RefusesElementsThatAreNotAsManyAsTheDimensions) {
  using written::raw_tensor;
  using written::tensor;
  EXPECT_EQ(
      refusal_of(with_initializer(raw_tensor<float>("t", {3, 4}, ElementType::f32, {1, 2, 3}))),
      "--onnx: 'net.onnx' is damaged: tensor 't' (3x4 of f32) needs 48 bytes and has 12; export it again");
  expect_words(refusal_of(with_initializer(tensor("t", {3}, ElementType::i64) + written::packed(7, {1}))));
  expect_words(refusal_of(with_initializer(tensor("t", {1}, ElementType::i64) + written::packed(5, {1}))));
  expect_words(refusal_of(with_initializer(tensor("t", {}, ElementType::f32))));
  expect_words(refusal_of(with_initializer(tensor("t", {1}, ElementType::i64) + written::packed(5, {1}) +
                                           written::packed(7, {1}))));
}

TEST(OnnxReader, RefusesSizesThatOverflow) {
  const std::int64_t huge = std::int64_t{1} << 40U;
  using written::external_tensor;
  EXPECT_EQ(
      refusal_of(with_initializer(external_tensor("t", {huge, 3, 3, 3}))),
      "--onnx: 'net.onnx' has tensor 't' (1099511627776x3x3x3 of f32), and a tensor may have at most 1 TiB");
  expect_words(refusal_of(with_initializer(external_tensor("t", {huge, huge, huge, 0}))));
  expect_words(refusal_of(with_initializer(external_tensor("t", {0, INT64_MAX}))));
  expect_words(refusal_of(with_initializer(external_tensor("t", {4, -1}))));
  expect_words(refusal_of(with_initializer(external_tensor("t", std::vector<std::int64_t>(33, 1)))));
  OnnxWriter net;
  net.input("x", {2 * huge});
  net.output("x");
  expect_words(refusal_of(net.bytes()));
}

TEST(OnnxReader, RefusesWhatIsNoNetwork) {
  const auto file = [](const std::string& name) { return file_refusal(data_path("bad/" + name)); };
  expect_words(file("empty.onnx"));
  expect_words(file("text.onnx"));
  expect_words(file("truncated.onnx"));
  expect_words(file("missing_weight.onnx"));
  expect_words(file("cycle.onnx"));
  expect_words(file("huge_dims.onnx"));
  // What is wrong with the others is not in the file's form.
  for (const char* name : {"groups.onnx", "unknown_op.onnx", "branch_on_data.onnx"}) {
    EXPECT_EQ(file(name), "") << name;
  }
}

TEST(OnnxReader, RefusesWhatIsNoFile) {
  const std::filesystem::path folder = testing::TempDir() + "onnx_no_file_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  expect_words(without_path(file_refusal(folder), folder));
  expect_words(without_path(file_refusal(folder / "none.onnx"), folder));
  expect_words(file_refusal("/dev/null"));
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_words(without_path(file_refusal(pipe), folder));  // and nobody writes to it
  std::filesystem::remove_all(folder);
}

TEST(OnnxReader, NamesALongPathByItsEnd) {
  const std::string path = "/" + std::string(80, 'a') + "/net.onnx";
  expect_words(file_refusal(path));
}

TEST(OnnxReader, SurvivesAFileThatIsCutShortWhileItIsRead) {
  const std::string path = testing::TempDir() + "onnx_cut_" + std::to_string(::getpid());
  std::filesystem::copy_file(data_path("resnet18.onnx"), path);
  const auto source = open_file(path);
  std::filesystem::resize_file(path, 100);
  std::vector<std::byte> bytes(source->size());
  EXPECT_THROW(source->read(0, bytes), Refusal);
  std::filesystem::remove(path);
}

TEST(OnnxReader, ReadsAFileOfGigabytes) {
  OnnxWriter net;
  net.node("Relu", {"w"}, {"y"});
  net.output("y");
  const std::uint64_t weights = std::uint64_t{3} << 30U;
  const std::string tensor =
      written::tensor("w", {3, 1 << 28U}, ElementType::f32) + written::tag(9, 2) + written::varint(weights);
  const std::string graph =
      net.graph() + written::tag(5, 2) + written::varint(tensor.size() + weights) + tensor;
  const std::string head = written::integer(1, 8) + written::bytes(8, written::opset("", 17)) +
                           written::tag(7, 2) + written::varint(graph.size() + weights) + graph;
  const std::string path = testing::TempDir() + "onnx_sparse_" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << head;
  std::filesystem::resize_file(path, head.size() + weights);
  const Model model = read_model(path);
  std::filesystem::remove(path);
  const Tensor& w = model.graph.initializers.at(0);
  EXPECT_TRUE(w.external);
  EXPECT_EQ(w.range->offset, head.size());
  EXPECT_EQ(w.range->size, weights);
}

}  // namespace
}  // namespace bench::kernels::onnx
