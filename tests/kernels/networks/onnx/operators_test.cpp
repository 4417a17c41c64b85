// Operators that are made of several layers: their answers against the formulas of ONNX's specification.
#include <gmock/gmock.h>

#include <cmath>
#include <tuple>

#include "kernels/networks/onnx/import.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::Contains;
using OnnxOperators = OnnxAnswers;

TEST_F(OnnxOperators, NormByTheRootMeanSquare) {
  OnnxWriter net;
  net.input("x", {-1, 3, 5});
  net.weight("scale", {5});
  net.node("RMSNormalization", {"x", "scale"}, {"y"}, {written::f("epsilon", 0.25F)});
  net.opset(23);
  net.output("y");
  const ImportedNetwork made = network(net);
  const Values scale = weight(made, "scale");
  ASSERT_EQ(scale.size(), 5U);
  expect_answers(made, [&](const Values& x) {
    Values y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double squares = 0;
      for (std::size_t j = i / 5 * 5; j < i / 5 * 5 + 5; ++j) {
        squares += double{x[j]} * x[j];
      }
      y.push_back(static_cast<float>(x[i] / std::sqrt(squares / 5 + 0.25) * scale[i % 5]));
    }
    return y;
  });
}

TEST_F(OnnxOperators, CastsOfConstantsWrapAsTheTypesDo) {
  const std::tuple<std::int64_t, ElementType, float> cases[] = {{300, ElementType::u8, 44},
                                                                {300, ElementType::i8, 44},
                                                                {200, ElementType::i8, -56},
                                                                {-1, ElementType::u16, 65535},
                                                                {7, ElementType::boolean, 1}};
  for (const auto& [value, type, expected] : cases) {
    OnnxWriter net;
    net.input("x", {-1, 4});
    net.integers("value", {1}, {value});
    net.node("Cast", {"value"}, {"small"}, {written::i("to", static_cast<std::int64_t>(type))});
    net.node("Cast", {"small"}, {"factor"}, {written::i("to", static_cast<std::int64_t>(ElementType::f32))});
    net.node("Mul", {"x", "factor"}, {"scaled"});
    net.node("Relu", {"scaled"}, {"y"});
    net.output("y");
    expect_answers(net, [factor = expected](const Values& x) {
      Values y;
      for (const float v : x) {
        y.push_back(std::max(0.0F, v * factor));
      }
      return y;
    });
  }
}

TEST_F(OnnxOperators, NoValueIsNotANumber) {
  OnnxWriter net;
  net.input("x", {-1, 4});
  net.node("IsNaN", {"x"}, {"none"});
  net.node("Neg", {"x"}, {"negative"});
  net.node("Where", {"none", "negative", "x"}, {"chosen"});
  net.node("Relu", {"chosen"}, {"y"});
  net.output("y");
  const ImportedNetwork made = network(net);
  EXPECT_THAT(made.assumptions, Contains("No value is NaN."));
  expect_answers(made, [](const Values& x) {
    Values y;
    for (const float v : x) {
      y.push_back(std::max(0.0F, v));
    }
    return y;
  });
}

TEST_F(OnnxOperators, RunningSums) {
  for (const bool exclusive : {false, true}) {
    for (const bool reversed : {false, true}) {
      SCOPED_TRACE(::testing::Message() << exclusive << reversed);
      OnnxWriter net;
      net.input("x", {-1, 3, 4});
      net.integers("axis", {}, {1});
      net.node("CumSum", {"x", "axis"}, {"y"},
               {written::i("exclusive", exclusive ? 1 : 0), written::i("reverse", reversed ? 1 : 0)});
      net.output("y");
      expect_answers(net, [&](const Values& x) {
        Values y(x.size());
        for (int row = 0; row < 3; ++row) {
          for (int other = 0; other < 3; ++other) {
            const bool counts = reversed ? other > row || (!exclusive && other == row)
                                         : other < row || (!exclusive && other == row);
            for (int i = 0; i < 4 && counts; ++i) {
              y[row * 4 + i] += x[other * 4 + i];
            }
          }
        }
        return y;
      });
    }
  }
}

// A count of 2 becomes true, which is 1.
TEST_F(OnnxOperators, WholeNumbersAsBooleans) {
  OnnxWriter net;
  net.input("x", {-1, 4});
  net.floats("zero", {}, {0});
  net.floats("half", {}, {0.5F});
  for (const char* bound : {"zero", "half"}) {
    const std::string name = bound;
    net.node("Greater", {"x", name}, {"above_" + name});
    net.node("Cast", {"above_" + name}, {"counted_" + name}, {written::i("to", 7)});
  }
  net.node("Add", {"counted_zero", "counted_half"}, {"count"});
  net.node("Cast", {"count"}, {"any"}, {written::i("to", 9)});
  net.node("Cast", {"any"}, {"y"}, {written::i("to", 1)});
  net.output("y");
  expect_answers(net, [](Values x) {
    for (float& value : x) {
      value = value > 0 ? 1 : 0;
    }
    return x;
  });
}

TEST_F(OnnxOperators, TrianglesOfData) {
  OnnxWriter net;
  net.input("x", {-1, 3, 4});
  net.integers("k", {}, {-1});
  net.node("Trilu", {"x", "k"}, {"y"}, {written::i("upper", 0)});
  net.output("y");
  expect_answers(net, [](Values x) {
    for (int i = 0; i < 12; ++i) {
      x[i] = i % 4 - i / 4 <= -1 ? x[i] : 0;
    }
    return x;
  });
}

// x[:, [2, 0]] = 2 · x[:, [0, 1]], as PyTorch exports it: the samples are numbered.
TEST_F(OnnxOperators, RowsWrittenToPlaces) {
  OnnxWriter net;
  net.input("x", {-1, 3, 2});
  net.floats("two", {}, {2});
  net.integers("zero", {}, {0});
  net.integers("one", {}, {1});
  net.integers("rows", {2}, {0, 1});
  net.integers("places", {1, 2}, {2, 0});
  net.integers("last", {1}, {-1});
  net.integers("behind", {1}, {1});
  net.integers("column", {2}, {-1, 1});
  net.node("Gather", {"x", "rows"}, {"taken"}, {written::i("axis", 1)});
  net.node("Mul", {"taken", "two"}, {"updates"});
  net.node("Shape", {"x"}, {"shape"});
  net.node("Gather", {"shape", "zero"}, {"batch"});
  net.node("Range", {"zero", "batch", "one"}, {"samples"});
  net.node("Reshape", {"samples", "column"}, {"numbered"});
  net.node("Unsqueeze", {"batch", "zero1"}, {"batches"});
  net.integers("zero1", {1}, {0});
  net.integers("pair", {1}, {2});
  net.node("Concat", {"batches", "pair"}, {"all"}, {written::i("axis", 0)});
  net.node("Expand", {"numbered", "all"}, {"of_sample"});
  net.node("Expand", {"places", "all"}, {"of_place"});
  net.node("Unsqueeze", {"of_sample", "last"}, {"a"});
  net.node("Unsqueeze", {"of_place", "last"}, {"b"});
  net.node("Concat", {"a", "b"}, {"indices"}, {written::i("axis", -1)});
  net.node("ScatterND", {"x", "indices", "updates"}, {"y"});
  net.output("y");
  expect_answers(net,
                 [](const Values& x) { return Values{2 * x[2], 2 * x[3], x[2], x[3], 2 * x[0], 2 * x[1]}; });
}

// x[:, 1:, :2] = 2 · x[:, :1, 1:] of 2 x 3 elements, as exporters write it; the places are in order or not.
TEST_F(OnnxOperators, ScatterToABlock) {
  for (const bool in_order : {true, false}) {
    SCOPED_TRACE(in_order);
    OnnxWriter net;
    net.input("x", {1, 2, 3});
    net.integers("sample", {1, 1, 1}, {0});
    net.integers("rows", {1, 1}, {1});
    net.integers("columns", {2},
                 in_order ? std::vector<std::int64_t>{0, -2} : std::vector<std::int64_t>{1, 0});
    net.integers("places", {3}, {1, 1, 2});
    net.integers("last", {1}, {-1});
    net.integers("from", {2}, {0, 1});
    net.integers("to", {2}, {1, 3});
    net.integers("axes", {2}, {1, 2});
    net.floats("two", {}, {2});
    net.node("Slice", {"x", "from", "to", "axes"}, {"part"});
    net.node("Mul", {"part", "two"}, {"updates"});
    std::vector<std::string> all;
    for (const std::string indices : {"sample", "rows", "columns"}) {
      net.node("Expand", {indices, "places"}, {indices + " repeated"});
      net.node("Unsqueeze", {indices + " repeated", "last"}, {indices + " apart"});
      all.push_back(indices + " apart");
    }
    net.node("Concat", all, {"indices"}, {written::i("axis", -1)});
    net.node("ScatterND", {"x", "indices", "updates"}, {"y"});
    net.output("y");
    const ImportedNetwork network = this->network(net);
    EXPECT_EQ(std::ranges::any_of(network.graph.nodes(), [](const auto& node) { return node.is("gather"); }),
              !in_order);
    expect_answers(network, [&](const Values& x) {
      const float first = 2 * x[in_order ? 1 : 2];
      const float second = 2 * x[in_order ? 2 : 1];
      return Values{x[0], x[1], x[2], first, second, x[5]};
    });
  }
}

TEST_F(OnnxOperators, RowsOfOneHot) {
  OnnxWriter net;
  net.input("x", {-1, 2, 3});
  net.integers("indices", {2}, {2, -3});
  net.integers("depth", {}, {3});
  net.floats("values", {2}, {-1, 5});
  net.node("OneHot", {"indices", "depth", "values"}, {"hot"});
  net.node("Add", {"x", "hot"}, {"y"});
  net.output("y");
  expect_answers(net, [](Values x) {
    const Values hot{-1, -1, 5, 5, -1, -1};
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += hot[i];
    }
    return x;
  });
}

TEST_F(OnnxOperators, EquationsWithAnEllipsis) {
  for (const char* const equation : {"...ij,jk->...ik", "bhij,jk->bhik", "...ij,jk"}) {
    SCOPED_TRACE(equation);
    OnnxWriter net;
    net.input("x", {-1, 2, 3, 4});
    net.weight("w", {4, 5});
    net.node("Einsum", {"x", "w"}, {"y"}, {written::s("equation", equation)});
    net.output("y");
    const ImportedNetwork made = network(net);
    const Values w = weight(made, "w");
    ASSERT_EQ(w.size(), 20U);
    expect_answers(made, [&](const Values& x) {
      Values y;
      for (int row = 0; row < 6; ++row) {
        for (int k = 0; k < 5; ++k) {
          double sum = 0;
          for (int j = 0; j < 4; ++j) {
            sum += double{x[row * 4 + j]} * w[j * 5 + k];
          }
          y.push_back(static_cast<float>(sum));
        }
      }
      return y;
    });
  }
}

TEST_F(OnnxOperators, Swish) {
  OnnxWriter net;
  net.input("x", {-1, 3, 4, 5});
  net.node("Swish", {"x"}, {"y"});
  net.opset(24);
  net.output("y");
  expect_answers(net, [](Values x) {
    std::ranges::transform(x, x.begin(), [](float value) { return value / (1 + std::exp(-value)); });
    return x;
  });
}

// Windows of 2 x 3 x 2 with every kind of step.
struct Volume {
  static constexpr int kChannels = 4, kDepth = 5, kRows = 6, kColumns = 4;
  static constexpr std::array kKernel{2, 3, 2}, kStride{2, 1, 2}, kPad{1, 1, 0}, kDilation{2, 1, 1};
  static constexpr std::array kSizes{kDepth, kRows, kColumns};

  static int results(int axis) {
    const int covered = kDilation[axis] * (kKernel[axis] - 1) + 1;
    return (kSizes[axis] + 2 * kPad[axis] - covered) / kStride[axis] + 1;
  }
  static std::vector<std::string> attributes() {
    return {written::ints("kernel_shape", {2, 3, 2}), written::ints("strides", {2, 1, 2}),
            written::ints("pads", {1, 1, 0, 1, 1, 0}), written::ints("dilations", {2, 1, 1})};
  }
  // visit(place in the channel, place in the kernel) for each of a window that lies in the volume.
  template <class Visit>
  static void for_each_in_window(const std::array<int, 3>& at, const Visit& visit) {
    for (int k = 0; k < kKernel[0] * kKernel[1] * kKernel[2]; ++k) {
      const std::array<int, 3> in{k / (kKernel[1] * kKernel[2]), k / kKernel[2] % kKernel[1], k % kKernel[2]};
      std::array<int, 3> place{};
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        place[axis] = at[axis] * kStride[axis] - kPad[axis] + in[axis] * kDilation[axis];
        inside &= place[axis] >= 0 && place[axis] < kSizes[axis];
      }
      if (inside) {
        visit((place[0] * kRows + place[1]) * kColumns + place[2], k);
      }
    }
  }
  template <class Visit>
  static void for_each_window(const Visit& visit) {
    for (int d = 0; d < results(0); ++d) {
      for (int h = 0; h < results(1); ++h) {
        for (int w = 0; w < results(2); ++w) {
          visit(std::array{d, h, w});
        }
      }
    }
  }
  static constexpr int kElements = kDepth * kRows * kColumns;
};

TEST_F(OnnxOperators, ConvolutionsOverThreeDimensions) {
  constexpr int kOut = 6;
  constexpr int kGroups = 2;
  constexpr int kTaps = 12;
  constexpr int kIn = Volume::kChannels / kGroups;
  OnnxWriter net;
  net.input("x", {-1, Volume::kChannels, Volume::kDepth, Volume::kRows, Volume::kColumns});
  net.weight("w", {kOut, kIn, 2, 3, 2});
  net.weight("b", {kOut});
  auto attributes = Volume::attributes();
  attributes.push_back(written::i("group", kGroups));
  net.node("Conv", {"x", "w", "b"}, {"y"}, attributes);
  net.output("y");
  const ImportedNetwork made = network(net);
  EXPECT_EQ(made.graph.macs(),
            kOut * kIn * kTaps * Volume::results(0) * Volume::results(1) * Volume::results(2));
  const Values w = weight(made, "w");
  const Values b = weight(made, "b");
  ASSERT_EQ(w.size(), static_cast<std::size_t>(kOut * kIn * kTaps));
  expect_answers(made, [&](const Values& x) {
    Values y;
    for (int out = 0; out < kOut; ++out) {
      Volume::for_each_window([&](const std::array<int, 3>& at) {
        double sum = b[out];
        for (int in = 0; in < kIn; ++in) {
          const int channel = out / (kOut / kGroups) * kIn + in;
          Volume::for_each_in_window(at, [&](int place, int tap) {
            sum += double{x[channel * Volume::kElements + place]} * w[(out * kIn + in) * kTaps + tap];
          });
        }
        y.push_back(static_cast<float>(sum));
      });
    }
    return y;
  });
}

TEST_F(OnnxOperators, PoolingOverThreeDimensions) {
  for (const char* const op : {"MaxPool", "AveragePool"}) {
    SCOPED_TRACE(op);
    const bool average = op[0] == 'A';
    OnnxWriter net;
    net.input("x", {-1, Volume::kChannels, Volume::kDepth, Volume::kRows, Volume::kColumns});
    net.node(op, {"x"}, {"y"}, Volume::attributes());
    net.output("y");
    expect_answers(net, [&](const Values& x) {
      Values y;
      for (int channel = 0; channel < Volume::kChannels; ++channel) {
        Volume::for_each_window([&](const std::array<int, 3>& at) {
          double sum = 0;
          double most = -1e30;
          int count = 0;
          Volume::for_each_in_window(at, [&](int place, int /*tap*/) {
            const double value = x[channel * Volume::kElements + place];
            sum += value;
            most = std::max(most, value);
            ++count;
          });
          y.push_back(static_cast<float>(average ? sum / count : most));
        });
      }
      return y;
    });
  }
}

// Four heads of queries, two of keys; a query reads the keys up to its own position.
TEST_F(OnnxOperators, AttentionAsOneNode) {
  constexpr int kHeads = 4, kShared = 2, kPositions = 5, kWidth = 3, kAll = kHeads + 2 * kShared;
  OnnxWriter net;
  net.input("x", {-1, kPositions, kAll * kWidth});
  net.integers("parts", {3}, {kHeads * kWidth, kShared * kWidth, kShared * kWidth});
  net.node("Split", {"x", "parts"}, {"q", "k", "v"}, {written::i("axis", 2)});
  net.node("Attention", {"q", "k", "v"}, {"y"},
           {written::i("q_num_heads", kHeads), written::i("kv_num_heads", kShared),
            written::i("is_causal", 1), written::f("scale", 0.5F), written::f("softcap", 2)});
  net.opset(23);
  net.output("y");
  expect_answers(net, [&](const Values& x) {
    const auto at = [&](int position, int head, int i) {
      return double{x[position * kAll * kWidth + head * kWidth + i]};
    };
    Values y;
    for (int position = 0; position < kPositions; ++position) {
      for (int head = 0; head < kHeads; ++head) {
        const int key = kHeads + head / (kHeads / kShared);
        std::vector<double> shares;
        double all = 0;
        for (int other = 0; other <= position; ++other) {
          double score = 0;
          for (int i = 0; i < kWidth; ++i) {
            score += 0.5 * at(position, head, i) * at(other, key, i);
          }
          shares.push_back(std::exp(2 * std::tanh(score / 2)));
          all += shares.back();
        }
        for (int i = 0; i < kWidth; ++i) {
          double read = 0;
          for (std::size_t other = 0; other < shares.size(); ++other) {
            read += shares[other] / all * at(static_cast<int>(other), key + kShared, i);
          }
          y.push_back(static_cast<float>(read));
        }
      }
    }
    return y;
  });
}

TEST_F(OnnxOperators, ChoicesAtTheEndAreLeftOutAndSaid) {
  OnnxWriter net;
  net.input("x", {-1, 4});
  net.integers("k", {1}, {2});
  net.node("Relu", {"x"}, {"scores"});
  net.node("TopK", {"scores", "k"}, {"values", "places"});
  net.output("values");
  net.output("places");
  const ImportedNetwork made = network(net);
  expect_words(made.assumptions);
  expect_answers(made, [](Values x) {
    std::ranges::transform(x, x.begin(), [](float value) { return std::max(value, 0.0F); });
    return x;
  });
}

// As of rotary embeddings that turn all of a head: nothing is left over, and is joined.
TEST_F(OnnxOperators, PartsWithoutElements) {
  OnnxWriter net;
  net.input("x", {-1, 3, 4});
  net.integers("from", {1}, {4});
  net.integers("to", {1}, {99});
  net.integers("axis", {1}, {2});
  net.integers("sizes", {2}, {0, 4});
  net.node("Slice", {"x", "from", "to", "axis"}, {"rest"});
  net.node("Split", {"x", "sizes"}, {"none", "all"}, {written::i("axis", 2)});
  net.node("Concat", {"none", "all", "rest"}, {"joined"}, {written::i("axis", 2)});
  net.node("Neg", {"joined"}, {"y"});
  net.output("y");
  expect_answers(net, [](Values x) {
    std::ranges::transform(x, x.begin(), std::negate<>());
    return x;
  });
}

// A cache of earlier positions is there for each sample, in every micro-batch.
TEST_F(OnnxOperators, APastOfSomePositions) {
  constexpr std::int64_t kPast = 2;
  OnnxWriter net;
  net.input("x", {-1, 3, 4});
  net.input("past", {-1, kPast, 4});
  net.weight("w", {4, 4});
  net.node("MatMul", {"x", "w"}, {"keys"});
  net.node("Concat", {"past", "keys"}, {"all"}, {written::i("axis", 1)});
  net.node("ReduceMean", {"all"}, {"y"}, {written::ints("axes", {1}), written::i("keepdims", 0)});
  net.output("y");
  const ImportedNetwork made = network(net);
  Values past(kPast * 4);
  fill_random(past, 1, stream_of("past", "input"));
  const Values w = weight(made, "w");
  expect_answers(made, [&](const Values& x) {
    Values y(4);
    for (std::size_t column = 0; column < 4; ++column) {
      float sum = past[column] + past[4 + column];
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t k = 0; k < 4; ++k) {
          sum += x[row * 4 + k] * w[column * 4 + k];
        }
      }
      y[column] = sum / 5;
    }
    return y;
  });
  const auto input_bytes = [&](std::int64_t batch) {
    Target target;
    target.batch = batch;
    target.layouts = layouts_for(*device_, Dtype::fp32);
    return plan_inference(bench::kernels::Graph(made.graph), target, *device_)
        .memory()
        .at_peak[MemoryCategory::input];
  };
  EXPECT_EQ(input_bytes(32), 32 * (3 + kPast) * 4 * 4);
}

// A decoder that is given the keys and values of no earlier positions.
TEST_F(OnnxOperators, APastOfNoPositions) {
  OnnxWriter net;
  std::string past = written::bytes(1, written::bytes(2, "batch")) +
                     written::bytes(1, written::integer(1, 3)) +
                     written::bytes(1, written::bytes(2, "past_length"));
  net.add_to_graph(written::bytes(
      11, written::bytes(1, "past") +
              written::bytes(2, written::bytes(1, written::integer(1, 1) + written::bytes(2, past)))));
  net.input("x", {-1, 3, 4});
  net.node("Concat", {"past", "x"}, {"all"}, {written::i("axis", 2)});
  net.node("Neg", {"all"}, {"y"});
  net.output("y");
  expect_answers(net, [](Values x) {
    std::ranges::transform(x, x.begin(), std::negate<>());
    return x;
  });
}

}  // namespace
}  // namespace bench::kernels::onnx
