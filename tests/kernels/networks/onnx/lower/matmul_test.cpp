// Products of matrices against loops over rows and columns, broadcast as NumPy does.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/lower/operands.h"

namespace bench::kernels::onnx {
namespace {

using Dims = std::vector<std::int64_t>;

// A vector is a matrix of one row or column, which the result lacks.
Values product(const Operand& a, const Operand& b) {
  Dims left = a.dims;
  Dims right = b.dims;
  const bool row = left.size() == 1;
  const bool column = right.size() == 1;
  if (row) {
    left.insert(left.begin(), 1);
  }
  if (column) {
    right.push_back(1);
  }
  const std::size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), 1);
  right.insert(right.begin(), rank - right.size(), 1);
  Dims all;
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    all.push_back(std::max(left[d], right[d]));
  }
  const std::int64_t joined = left[rank - 1];
  all.insert(all.end(), {left[rank - 2], right[rank - 1]});
  const auto at = [&](const Operand& of, const Dims& dims, Dims index) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      place = place * dims[d] + (dims[d] == 1 ? 0 : index[d]);
    }
    return double{of.values[static_cast<std::size_t>(place)]};
  };
  Values made;
  for_each_index(all, [&](const Dims& index) {
    double sum = 0;
    for (std::int64_t j = 0; j < joined; ++j) {
      Dims in_left = index;
      Dims in_right = index;
      in_left[rank - 1] = j;
      in_right[rank - 2] = j;
      sum += at(a, left, in_left) * at(b, right, in_right);
    }
    made.push_back(static_cast<float>(sum));
  });
  return made;
}

struct Factors {
  const char* name;
  Operand a, b;
};

void PrintTo(const Factors& factors, std::ostream* out) {
  *out << factors.name;
}

class MatMul : public OperandAnswers, public ::testing::WithParamInterface<Factors> {};

TEST_P(MatMul, IsAsOfNumPy) {
  const std::vector<Operand> operands{GetParam().a, GetParam().b};
  OnnxWriter net = with_operands(operands);
  net.node("MatMul", {"a", "b"}, {"y"});
  expect_of_operands(net, operands, [](const auto& of) { return product(of[0], of[1]); });
}

Operand samples(Dims dims) {
  dims.insert(dims.begin(), 1);
  return {.dims = std::move(dims)};
}
Operand drawn(Dims dims) {
  return {.dims = std::move(dims), .of_samples = false};
}

INSTANTIATE_TEST_SUITE_P(
    All, MatMul,
    ::testing::Values(Factors{"matrices", samples({3, 4}), samples({4, 5})},
                      Factors{"several", samples({2, 3, 4}), samples({2, 4, 5})},
                      Factors{"several_of_several", samples({2, 3, 3, 4}), samples({2, 3, 4, 5})},
                      Factors{"left_repeated", samples({1, 3, 4}), samples({2, 4, 5})},
                      Factors{"right_repeated", samples({2, 3, 4}), samples({1, 4, 5})},
                      Factors{"both_repeated", samples({3, 1, 3, 4}), samples({1, 2, 4, 5})},
                      Factors{"one_row", samples({1, 4}), samples({4, 5})},
                      Factors{"one_column", samples({3, 4}), samples({4, 1})},
                      Factors{"weights", samples({3, 4}), drawn({4, 5})},
                      Factors{"weights_of_each", samples({2, 3, 4}), drawn({2, 4, 5})},
                      Factors{"weights_of_one", samples({2, 3, 4}), drawn({1, 4, 5})},
                      Factors{"weights_first", drawn({3, 4}), samples({4, 5})},
                      Factors{"weights_of_each_first", drawn({2, 3, 4}), samples({2, 4, 5})},
                      Factors{"matrix_of_weights_first", drawn({3, 4}), samples({2, 4, 5})},
                      Factors{"vector_of_weights", samples({3, 4}), drawn({4})},
                      Factors{"vector_of_weights_first", drawn({3}), samples({3, 4})},
                      Factors{"vector_and_several", samples({2, 3, 4}), drawn({4})}),
    [](const auto& tested) { return std::string(tested.param.name); });

// alpha · Aᵀ · Bᵀ
TEST_F(OperandAnswers, FusedMatMulTransposesAndScales) {
  const std::vector<Operand> operands{samples({2, 4, 3}), samples({2, 5, 4})};
  OnnxWriter net = with_operands(operands);
  net.add_to_graph(written::bytes(
      1, written::node("FusedMatMul", {"a", "b"}, {"y"},
                       {written::i("transA", 1), written::i("transB", 1), written::f("alpha", 0.5F)},
                       {.name = "y", .domain = "com.microsoft"})));
  expect_of_operands(net, operands, [](const auto& of) {
    Values made;
    for_each_index({2, 3, 5}, [&](const Dims& index) {
      double sum = 0;
      for (std::int64_t j = 0; j < 4; ++j) {
        sum += double{of[0].values[(index[0] * 4 + j) * 3 + index[1]]} *
               of[1].values[(index[0] * 5 + index[2]) * 4 + j];
      }
      made.push_back(static_cast<float>(0.5 * sum));
    });
    return made;
  });
}

TEST(MatMulRefused, InOneSentence) {
  const auto why = [](const Dims& of_sample, const Dims& weights) {
    OnnxWriter net;
    Dims dims = of_sample;
    dims.insert(dims.begin(), -1);
    net.input("x", dims);
    net.weight("w", weights);
    net.node("MatMul", {"x", "w"}, {"y"});
    net.output("y");
    return import_refusal(net);
  };
  EXPECT_EQ(why({3, 4}, {4, 5}), "imported");
  expect_words(why({3, 4}, {5, 4}));
  expect_words(why({2, 3, 4}, {2, 5, 4}));
  expect_words(why({2, 3, 4}, {3, 4, 5}));
  expect_words(why({3, 4}, {2, 4, 5}));  // two samples are not the batch
}

}  // namespace
}  // namespace bench::kernels::onnx
