// Operators whose inputs are all known: folded when the network is imported. An operator is one entry:
//
//   const Registration<ConstantOperator> range{{"Range", evaluate_range}};
#pragma once

#include <string>
#include <vector>

#include "bench/registry.h"
#include "kernels/networks/onnx/constants/constant.h"
#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

struct Evaluation {
  const Node& node;
  std::int64_t opset = 0;
  std::int64_t file_batch = 1;            // that the file's numbers hold
  bool batch_is_free = false;             // in the file: a slice up to element 1 is then of one sample
  std::vector<const Constant*> inputs{};  // nullptr: not given
  Budget& budget;

  bool has(std::size_t index) const { return index < inputs.size() && inputs[index] != nullptr; }
  // Throws Refused where it is not given.
  const Constant& in(std::size_t index) const;
  // A list that is an attribute in old versions and an input in new ones; nullopt: not given.
  std::optional<std::vector<std::int64_t>> list(const std::string& attribute, std::size_t index) const;
};

struct ConstantOperator {
  std::string name;
  std::vector<Constant> (*evaluate)(const Evaluation& evaluation);  // throws Refused
};

}  // namespace bench::kernels::onnx
