// Operators with several operands: pieces of one input, or weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/networks/onnx/operator_answers.h"

namespace bench::kernels::onnx {

// One sample's elements, or a weight's, with their dimensions.
struct Operand {
  std::vector<std::int64_t> dims;
  bool of_samples = true;  // has the batch as its first dimension, which dims has as 1
  Values values{};
};

inline std::int64_t elements_in(const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    count *= size;
  }
  return count;
}

// visit(index) for each of the dimensions, the last one fastest.
inline void for_each_index(const std::vector<std::int64_t>& dims,
                           const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> index(dims.size(), 0);
  for (std::int64_t i = 0; i < elements_in(dims); ++i) {
    std::int64_t rest = i;
    for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d]) {
      index[d] = rest % dims[d];
    }
    visit(index);
  }
}

class OperandAnswers : public OnnxAnswers {
 protected:
  // A network whose operands are called a, b, …; the test adds what makes "y" of them.
  static OnnxWriter with_operands(const std::vector<Operand>& operands) {
    OnnxWriter net;
    std::int64_t all = 0;
    std::vector<std::int64_t> sizes;
    for (const Operand& operand : operands) {
      if (operand.of_samples) {
        sizes.push_back(elements_in(operand.dims));
        all += sizes.back();
      }
    }
    net.input("x", {-1, all});
    net.integers("sizes", {static_cast<std::int64_t>(sizes.size())}, sizes);
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::string name = name_of_operand(i);
      if (!operands[i].of_samples) {
        net.weight(name, operands[i].dims);
        continue;
      }
      pieces.push_back("piece of " + name);
      std::vector<std::int64_t> dims = operands[i].dims;
      dims.front() = -1;
      net.integers("dims of " + name, {static_cast<std::int64_t>(dims.size())}, dims);
    }
    net.node("Split", {"x", "sizes"}, pieces, {written::i("axis", 1)});
    for (const std::string& piece : pieces) {
      const std::string name = piece.substr(piece.size() - 1);
      net.node("Reshape", {piece, "dims of " + name}, {name});
    }
    net.output("y");
    return net;
  }
  static std::string name_of_operand(std::size_t i) { return {static_cast<char>('a' + i)}; }

  // The formula gets the operands with one sample's values.
  void expect_of_operands(const OnnxWriter& net, std::vector<Operand> operands,
                          const std::function<Values(const std::vector<Operand>&)>& formula) {
    const ImportedNetwork made = network(net);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].of_samples) {
        operands[i].values = weight_as_written(made, name_of_operand(i), operands[i].dims);
        ASSERT_EQ(operands[i].values.size(), static_cast<std::size_t>(elements_in(operands[i].dims)));
      }
    }
    expect_answers(made, [&](const Values& x) {
      auto at = x.begin();
      for (Operand& operand : operands) {
        if (operand.of_samples) {
          const auto end = at + static_cast<std::ptrdiff_t>(elements_in(operand.dims));
          operand.values.assign(std::exchange(at, end), end);
        }
      }
      return formula(operands);
    });
  }

 private:
  // A linear layer has the file's matrix transposed.
  static Values weight_as_written(const ImportedNetwork& network, const std::string& name,
                                  const std::vector<std::int64_t>& dims) {
    const Values kept = weight(network, name);
    const auto source = std::ranges::find(network.parameters, name, &ParameterSource::initializer);
    if (source == network.parameters.end() || !source->transposed) {
      return kept;
    }
    Values written;
    for_each_index(dims, [&](const std::vector<std::int64_t>& index) {
      written.push_back(kept.at(static_cast<std::size_t>(index[1] * dims[0] + index[0])));
    });
    return written;
  }
};

}  // namespace bench::kernels::onnx
