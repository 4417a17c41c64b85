// Damaged and hostile networks through all that `--onnx` does before anything runs: reading, importing,
// asking whether it can be trained, and planning. Each is planned or refused in one sentence.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/without_path.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/mutations.h"
#include "tests/kernels/networks/onnx/network_files.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"
#include "tests/kernels/networks/onnx/reader/refusals.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::HasSubstr;

// Something of most families of layers, small.
OnnxWriter varied_layers() {
  OnnxWriter net;
  net.input("x", {1, 4, 8, 8});
  net.weight("conv.weight", {8, 4, 3, 3});
  net.weight("deconv.weight", {8, 4, 2, 2});
  net.weight("norm.weight", {4});
  net.weight("norm.bias", {4});
  net.weight("fc.weight", {4, 6});
  net.integers("tokens", {3}, {1, 4, -1});
  net.integers("axes", {1}, {-1});
  net.integers("from", {1}, {1});
  net.integers("to", {1}, {200});
  net.integers("place", {2}, {0, 3});
  net.integers("sizes", {4}, {1, 8, 6, 6});
  net.node("Conv", {"x", "conv.weight"}, {"c"},
           {written::ints("pads", {1, 1, 1, 1}), written::ints("strides", {2, 2}), written::i("group", 1)});
  net.node("Clip", {"c"}, {"a"});
  net.node("MaxPool", {"a"}, {"p"},
           {written::ints("kernel_shape", {2, 2}), written::ints("pads", {0, 0, 1, 1})});
  net.node("Resize", {"p", "", "", "sizes"}, {"r"}, {written::s("mode", "linear")});
  net.node("ConvTranspose", {"r", "deconv.weight"}, {"d"}, {written::ints("strides", {2, 2})});
  net.node("Split", {"d"}, {"left", "right"}, {written::i("axis", 3)});
  net.node("Mul", {"left", "right"}, {"m"});
  net.node("Reshape", {"m", "tokens"}, {"t"});
  net.node("Transpose", {"t"}, {"rows"}, {written::ints("perm", {0, 2, 1})});
  net.node("LayerNormalization", {"rows", "norm.weight", "norm.bias"}, {"n"}, {written::i("axis", -1)});
  net.node("MatMul", {"n", "t"}, {"scores"});
  net.node("Softmax", {"scores"}, {"shares"}, {written::i("axis", -1)});
  net.node("MatMul", {"shares", "n"}, {"read"});
  net.node("Slice", {"read", "from", "to", "from"}, {"s"});
  net.node("Gather", {"s", "place"}, {"g"}, {written::i("axis", 2)});
  net.node("Concat", {"s", "g"}, {"j"}, {written::i("axis", 2)});
  net.node("ReduceMean", {"j"}, {"mean"}, {written::ints("axes", {1}), written::i("keepdims", 1)});
  net.node("Sub", {"j", "mean"}, {"centred"});
  net.integers("cut", {2}, {4, 2});
  net.node("Split", {"centred", "cut"}, {"four", "two"}, {written::i("axis", 2)});
  net.node("MatMul", {"four", "fc.weight"}, {"y"});
  net.output("y");
  return net;
}

class HostileImport : public NetworkTest {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  // Empty where the network is planned. Any other exception than those that the program prints ends the test.
  std::string refusal(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      const WorkloadType type = workload_of(path_);
      const WorkloadSpec spec{.mode = "infer", .dtype = Dtype::fp32, .batch = 2, .seed = 1, .options = {}};
      type.configure(spec)->plan(*device_);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    } catch (const bench::Unsupported& error) {
      return error.what();
    } catch (const OutOfMemory& error) {
      return error.what();
    }
  }
  void expect_one_sentence(const std::string& refusal) {
    EXPECT_LT(refusal.size(), 1000U);
    EXPECT_EQ(refusal.find_first_of("\n\r\x1b"), std::string::npos) << refusal;
  }

  std::string path_ = ::testing::TempDir() + "hostile_" + std::to_string(::getpid()) + ".onnx";
};

TEST_F(HostileImport, CutAtEveryLength) {
  const std::string whole = content_of(data_path("light_bvlc_alexnet.onnx"));
  ASSERT_EQ(refusal(whole), "");
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string why = refusal(whole.substr(0, length));
    expect_one_sentence(why);
    refused += why.empty() ? 0 : 1;
  }
  EXPECT_EQ(refused, whole.size());
}

// BENCH_ONNX_MUTATIONS: how many, for a longer run.
TEST_F(HostileImport, MutatedInAFewBytes) {
  const char* const wanted = std::getenv("BENCH_ONNX_MUTATIONS");
  const int count = wanted == nullptr ? 1'500 : std::atoi(wanted);
  const std::string originals[] = {varied_layers().bytes(), content_of(data_path("tv_alexnet.onnx"))};
  ASSERT_EQ(refusal(originals[0]), "");
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const std::string why = refusal(mutated(originals[i % 8 == 0 ? 1 : 0], random));
    expect_one_sentence(why);
    refused += why.empty() ? 0 : 1;
    if (HasFailure()) {
      return;
    }
  }
  // Both happen, or the mutations prove nothing.
  EXPECT_GT(refused, count / 10);
  EXPECT_LT(refused, count);
}

// A chain as long as the reader takes.
TEST_F(HostileImport, AChainOfAllNodesThatThereMayBe) {
  OnnxWriter net;
  net.input("n0", {1, 4});
  constexpr int kNodes = 100'000;
  for (int i = 0; i < kNodes; ++i) {
    net.node("Identity", {"n" + std::to_string(i)}, {"n" + std::to_string(i + 1)});
  }
  net.node("Frobnicate", {"n99999"}, {"y"});
  net.output("y");
  expect_words(without_path(refusal(net.bytes()), path_));
}

struct Hostile {
  const char* name;
  std::function<void(OnnxWriter&)> write;  // from "x", batch x 4 x 6 x 6, to "y"
  const char* sentence;
};

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

class HostileNodes : public HostileImport, public ::testing::WithParamInterface<Hostile> {};

TEST_P(HostileNodes, EndInAPlanOrInASentence) {
  OnnxWriter net;
  net.input("x", {1, 4, 6, 6});
  GetParam().write(net);
  net.output("y");
  const std::string why = refusal(net.bytes());
  EXPECT_THAT(why, HasSubstr(GetParam().sentence));
  expect_one_sentence(why);
}

const std::int64_t kTera = std::int64_t{1} << 40;

// A value of that many sizes is made of constants, and added to x.
void add_made(OnnxWriter& net) {
  net.node("Cast", {"made"}, {"cast"}, {written::i("to", 1)});
  net.node("Add", {"x", "cast"}, {"y"});
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileNodes,
    ::testing::Values(
        Hostile{"channels",
                [](OnnxWriter& net) {
                  net.weight("w", {kTera, 4, 1, 1}, ElementType::f16);
                  net.node("Conv", {"x", "w"}, {"y"});
                },
                "1 TiB"},
        Hostile{"many_channels",
                [](OnnxWriter& net) {
                  net.weight("w", {std::int64_t{1} << 35, 4, 1, 1});
                  net.node("Conv", {"x", "w"}, {"y"});
                },
                "out_channels is 34359738368"},
        Hostile{"padding",
                [](OnnxWriter& net) {
                  net.weight("w", {4, 4, 1, 1});
                  net.node("Conv", {"x", "w"}, {"y"},
                           {written::ints("pads", {1 << 29, 1 << 29, 1 << 29, 1 << 29})});
                },
                ""},
        Hostile{"tile",
                [](OnnxWriter& net) {
                  net.integers("one", {1}, {1});
                  net.integers("times", {1}, {kTera});
                  net.node("Tile", {"one", "times"}, {"made"});
                  add_made(net);
                },
                "do not fit each other"},
        Hostile{"tile_of_data",
                [](OnnxWriter& net) {
                  net.integers("times", {4}, {1, kTera, kTera, kTera});
                  net.node("Tile", {"x", "times"}, {"y"});
                },
                "more elements than can be"},
        Hostile{"expanded_data",
                [](OnnxWriter& net) {
                  net.integers("sizes", {5}, {kTera, 1, 4, 6, 6});
                  net.node("Expand", {"x", "sizes"}, {"y"});
                },
                ""},
        Hostile{"doubling",
                [](OnnxWriter& net) {
                  net.integers("zero", {}, {0});
                  net.integers("one", {}, {1});
                  net.integers("many", {}, {1'000'000});
                  net.node("Range", {"zero", "many", "one"}, {"r0"});
                  for (int i = 0; i < 60; ++i) {
                    const std::string last = "r" + std::to_string(i);
                    net.node("Add", {last, last}, {"r" + std::to_string(i + 1)});
                  }
                  net.node("Identity", {"r60"}, {"made"});
                  add_made(net);
                },
                "folding constants would make more than"},
        Hostile{"joined_twice",
                [](OnnxWriter& net) {
                  net.node("Identity", {"x"}, {"j0"});
                  for (int i = 0; i < 60; ++i) {
                    const std::string last = "j" + std::to_string(i);
                    net.node("Concat", {last, last}, {"j" + std::to_string(i + 1)}, {written::i("axis", 1)});
                  }
                  net.node("Relu", {"j60"}, {"y"});
                },
                ""},
        Hostile{"padded",
                [](OnnxWriter& net) {
                  net.integers("sizes", {8}, {0, 0, kTera, kTera, 0, 0, kTera, kTera});
                  net.node("Pad", {"x", "sizes"}, {"y"});
                },
                ""},
        Hostile{"resized",
                [](OnnxWriter& net) {
                  net.floats("factors", {4}, {1, 1, 1e9F, 1e9F});
                  net.node("Resize", {"x", "", "factors"}, {"y"});
                },
                "pixels; 1 x 1 to"},
        Hostile{"spread_windows",
                [](OnnxWriter& net) {
                  net.node("AveragePool", {"x"}, {"y"},
                           {written::ints("kernel_shape", {1 << 29, 1 << 29}),
                            written::ints("dilations", {1 << 29, 1 << 29})});
                },
                "does not fit"},
        Hostile{"no_stride",
                [](OnnxWriter& net) {
                  net.node("MaxPool", {"x"}, {"y"},
                           {written::ints("kernel_shape", {1, 1}), written::ints("strides", {0, 0})});
                },
                "its strides are 0, 0; 2 of 1 to"},
        Hostile{"no_groups",
                [](OnnxWriter& net) {
                  net.weight("w", {4, 4, 1, 1});
                  net.node("Conv", {"x", "w"}, {"y"}, {written::i("group", 0)});
                },
                "it has 0 groups; 1 or more"},
        Hostile{"least_group",
                [](OnnxWriter& net) {
                  net.weight("w", {4, 4, 1, 1});
                  net.node("Conv", {"x", "w"}, {"y"}, {written::i("group", INT64_MAX)});
                },
                "more elements than can be"},
        Hostile{"least_axis",
                [](OnnxWriter& net) { net.node("Softmax", {"x"}, {"y"}, {written::i("axis", INT64_MIN)}); },
                "dimension -9223372036854775808"},
        Hostile{"division",
                [](OnnxWriter& net) {
                  net.integers("least", {1}, {INT64_MIN});
                  net.integers("minus", {1}, {-1});
                  net.node("Div", {"least", "minus"}, {"size"});
                  net.node("Reshape", {"x", "size"}, {"y"});
                },
                ""},
        Hostile{"slices",
                [](OnnxWriter& net) {
                  net.integers("from", {1}, {INT64_MIN});
                  net.integers("to", {1}, {INT64_MAX});
                  net.integers("axis", {1}, {1});
                  net.integers("step", {1}, {INT64_MIN});
                  net.node("Slice", {"x", "from", "to", "axis", "step"}, {"y"});
                },
                ""},
        Hostile{"branches_on_data",
                [](OnnxWriter& net) {
                  OnnxWriter branch;
                  branch.node("Relu", {"x"}, {"b"});
                  branch.output("b");
                  net.node(
                      "If", {"x"}, {"y"},
                      {written::g("then_branch", branch.graph()), written::g("else_branch", branch.graph())});
                },
                "its branches depend on data"},
        // Elements of an input, though they have a value.
        Hostile{"branches_on_an_input",
                [](OnnxWriter& net) {
                  OnnxWriter branch;
                  branch.node("Relu", {"x"}, {"b"});
                  branch.output("b");
                  net.input("flag", {}, ElementType::boolean);
                  net.node("Not", {"flag"}, {"no"});
                  net.node(
                      "If", {"no"}, {"y"},
                      {written::g("then_branch", branch.graph()), written::g("else_branch", branch.graph())});
                },
                "the node 'y' (If) cannot be imported: it branches on data, the input 'flag'; 1 of the "
                "network's 2 nodes cannot"},
        Hostile{"positions",
                [](OnnxWriter& net) {
                  net.input("position", {1, 1 << 30}, ElementType::i64);
                  net.node("Relu", {"x"}, {"y"});
                },
                "the input 'position' is batch x 1073741824, more integers than can be made up"},
        Hostile{"tokens",
                [](OnnxWriter& net) {
                  net.input("ids", {1, 1 << 30}, ElementType::i64);
                  net.weight("table", {100, 4});
                  net.node("Gather", {"table", "ids"}, {"rows"});
                  net.node("Relu", {"x"}, {"y"});
                },
                "the input 'ids' is batch x 1073741824, more integers than can be made up"},
        Hostile{"many_dimensions",
                [](OnnxWriter& net) {
                  net.input("z", {1, 1, 1, 1, 1, 1, 1});
                  net.node("Relu", {"x"}, {"y"});
                },
                "the input 'z' has 7 dimensions; at most 6 are accepted"},
        Hostile{"kernel",
                [](OnnxWriter& net) {
                  net.weight("w", {4, 4, 3, 3});
                  net.node("Conv", {"x", "w"}, {"y"}, {written::ints("kernel_shape", {5, 5})});
                },
                "its kernel_shape differs from its weights of 4 x 4 x 3 x 3"},
        Hostile{"automatic_padding",
                [](OnnxWriter& net) {
                  net.weight("w", {4, 4, 3, 3});
                  net.node("Conv", {"x", "w"}, {"y"}, {written::s("auto_pad", "WHAT")});
                },
                "its auto_pad is 'WHAT'; NOTSET, VALID"},
        Hostile{"integer_weights",
                [](OnnxWriter& net) {
                  net.weight("w", {4, 4, 1, 1}, ElementType::i64);
                  net.node("Conv", {"x", "w"}, {"y"});
                },
                "its weights are integers; floats are accepted"},
        Hostile{"a_further_result",
                [](OnnxWriter& net) {
                  net.node("Dropout", {"x"}, {"d", "mask"});
                  net.node("Cast", {"mask"}, {"kept"}, {written::i("to", 1)});
                  net.node("Mul", {"d", "kept"}, {"y"});
                },
                "it reads 'mask', a further result of Dropout, which is not computed"},
        Hostile{
            "rounding", [](OnnxWriter& net) { net.node("Floor", {"x"}, {"y"}); },
            "(Floor) cannot be imported: it is computed on constants only, and its inputs depend on data; "
            "it is the network's only node"},
        Hostile{"opset",
                [](OnnxWriter& net) {
                  net.opset(-3);
                  net.node("Relu", {"x"}, {"y"});
                },
                "its opset is -3; 1 to"},
        Hostile{"nothing", [](OnnxWriter& net) { net.node("Identity", {"x"}, {"y"}); },
                "nothing is computed before the output 'y'"},
        Hostile{"constants_of_all_the_budget",
                [](OnnxWriter& net) {
                  for (int i = 0; i < 8; ++i) {
                    const std::string name = "n" + std::to_string(i);
                    net.integers("to" + name, {}, {1'000'000});
                    net.integers("zero" + name, {}, {0});
                    net.integers("one" + name, {}, {1});
                    net.node("Range", {"zero" + name, "to" + name, "one" + name}, {name});
                  }
                  net.node("Concat", {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"}, {"made"},
                           {written::i("axis", 0)});
                  add_made(net);
                },
                "(Range) cannot be imported: folding constants would make more than 7340032 elements"},
        Hostile{
            "batch_norm_of_each_place",
            [](OnnxWriter& net) {
              net.weight("w", {4});
              net.node("BatchNormalization", {"x", "w", "w", "w", "w"}, {"y"}, {written::i("spatial", 0)});
            },
            "(BatchNormalization) cannot be imported: it normalises each place of a map by itself"},
        Hostile{"loops",
                [](OnnxWriter& net) {
                  OnnxWriter body;
                  body.node("Relu", {"x"}, {"b"});
                  body.output("b");
                  net.node("Loop", {"", "", "x"}, {"y"}, {written::g("body", body.graph())});
                },
                "(Loop) cannot be imported: a body of another number of values than the loop's"},
        Hostile{"custom",
                [](OnnxWriter& net) {
                  net.node("Fused", {"x"}, {"y"}, {}, {.name = "n", .domain = "com.example"});
                },
                "'n' (com.example.Fused) cannot be imported"},
        Hostile{"sizes_of_data",
                [](OnnxWriter& net) {
                  net.node("Reshape", {"x", "x"}, {"y"});
                },
                "its sizes depend on data"},
        Hostile{"many_outputs",
                [](OnnxWriter& net) {
                  net.node("Split", {"x"}, std::vector<std::string>(50'000, ""), {written::i("axis", 1)});
                  net.node("Relu", {"x"}, {"y"});
                },
                ""},
        Hostile{"controls",
                [](OnnxWriter& net) {
                  net.integers("sizes", {4}, {1, 4, 9, 9});
                  net.node("Resize", {"x", "", "", "sizes"}, {"y"}, {written::s("mode", "li\n\x1b[31m")});
                },
                "its mode is 'li\\n\\x1b[31m'"},
        Hostile{"equation",
                [](OnnxWriter& net) {
                  net.node("Einsum", {"x"}, {"y"}, {written::s("equation", "..................->,,,...")});
                },
                "the equation"},
        Hostile{"volume",
                [](OnnxWriter& net) {
                  net.integers("five", {5}, {1, 4, 6, 6, 1});
                  net.node("Reshape", {"x", "five"}, {"v"});
                  net.weight("w", {4, 4, std::int64_t{1} << 31, 1, 1});
                  net.node("Conv", {"v", "w"}, {"y"});
                },
                "its windows are 2147483648, 1, 1; 3 of 1 to"}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace bench::kernels::onnx
