// Initializers that several layers read: exporters keep one of equal values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {
namespace {

using SharedInitializers = OnnxAnswers;

constexpr std::size_t kWidth = 8;
constexpr double kEpsilon = 1e-5;

Values layer_norm(const Values& x, const Values& scale, const Values& shift) {
  double mean = 0;
  double square = 0;
  for (const float value : x) {
    mean += static_cast<double>(value) / kWidth;
    square += static_cast<double>(value) * static_cast<double>(value) / kWidth;
  }
  const double deviation = std::sqrt(square - mean * mean + kEpsilon);
  Values made;
  for (std::size_t i = 0; i < kWidth; ++i) {
    made.push_back(static_cast<float>((static_cast<double>(x[i]) - mean) / deviation) * scale[i] + shift[i]);
  }
  return made;
}

// x · W + b of a matrix in the file's order, or of its transpose.
Values product(const Values& x, const Values& matrix, const Values& summands, bool transposed) {
  Values made = summands;
  for (std::size_t i = 0; i < kWidth; ++i) {
    for (std::size_t k = 0; k < kWidth; ++k) {
      made[i] += x[k] * matrix[transposed ? i * kWidth + k : k * kWidth + i];
    }
  }
  return made;
}

// The values of a weight in the order that the file has.
Values in_file_order(const ImportedNetwork& network, const std::string& name) {
  const auto at = std::ranges::find(network.parameters, name, &ParameterSource::initializer);
  Values values = plain_parameter(network.graph, at->layer, at->slot, 1);
  if (at->transposed) {
    Values turned = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      turned[i % kWidth * kWidth + i / kWidth] = values[i];
    }
    values = turned;
  }
  return values;
}

// Norms share factors, a norm's summands are a bias, and a matrix is read both ways.
TEST_F(SharedInitializers, HaveTheSameValuesInEveryLayer) {
  OnnxWriter net;
  net.input("x", {-1, kWidth});
  net.weight("ones", {kWidth});
  net.weight("zeros", {kWidth});
  net.weight("other", {kWidth});
  net.weight("matrix", {kWidth, kWidth});
  net.node("LayerNormalization", {"x", "ones", "zeros"}, {"a"});
  net.node("Gemm", {"a", "matrix", "zeros"}, {"b"});
  net.node("LayerNormalization", {"b", "ones", "other"}, {"c"});
  net.node("Gemm", {"c", "matrix", "other"}, {"d"}, {written::i("transB", 1)});
  net.node("LayerNormalization", {"d", "other", "ones"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  for (const ParameterSource& source : network.parameters) {
    const Values values = plain_parameter(network.graph, source.layer, source.slot, 1);
    EXPECT_EQ(values.size(), source.initializer == "matrix" ? kWidth * kWidth : kWidth);
    if (source.initializer != "matrix") {
      EXPECT_EQ(values, weight(network, source.initializer));
    }
  }
  EXPECT_NE(weight(network, "zeros"), weight(network, "other"));
  const Values ones = in_file_order(network, "ones");
  const Values zeros = in_file_order(network, "zeros");
  const Values other = in_file_order(network, "other");
  const Values matrix = in_file_order(network, "matrix");
  expect_answers(network, [&](const Values& x) {
    const Values b = product(layer_norm(x, ones, zeros), matrix, zeros, false);
    const Values d = product(layer_norm(b, ones, other), matrix, other, true);
    return layer_norm(d, other, ones);
  });
}

// Factors and variances are the same ones, summands and means the same zeros, also where the norm is folded
// into the convolution before it.
TEST_F(SharedInitializers, OfABatchNormThatIsFolded) {
  OnnxWriter net;
  net.input("x", {-1, kWidth, 1, 1});
  net.weight("ones", {kWidth});
  net.weight("zeros", {kWidth});
  net.weight("filters", {kWidth, kWidth, 1, 1});
  net.node("Conv", {"x", "filters", "zeros"}, {"a"});
  net.node("BatchNormalization", {"a", "ones", "zeros", "zeros", "ones"}, {"b"});
  net.node("Conv", {"b", "filters"}, {"c"});
  net.node("BatchNormalization", {"c", "ones", "zeros", "zeros", "ones"}, {"y"});
  net.output("y");
  const ImportedNetwork network = imported(net);
  const Values ones = weight(network, "ones");
  const Values zeros = weight(network, "zeros");
  const Values filters = weight(network, "filters");
  for (const float each : ones) {
    EXPECT_GT(each, 0);
  }
  const auto norm = [&](Values x) {
    for (std::size_t i = 0; i < kWidth; ++i) {
      x[i] = (x[i] - zeros[i]) * ones[i] / std::sqrt(ones[i] + static_cast<float>(kEpsilon)) + zeros[i];
    }
    return x;
  };
  expect_answers(network, [&](const Values& x) {
    return norm(product(norm(product(x, filters, zeros, true)), filters, Values(kWidth, 0), true));
  });
}

}  // namespace
}  // namespace bench::kernels::onnx
