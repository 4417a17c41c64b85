// Nodes as layers. An operator is one entry in a file of its family:
//
//   const Registration<Lowered> transpose{{"Transpose", lower_transpose}};
//
// Operators of another domain than ONNX's own have its name before theirs: "com.microsoft.Gelu".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/registry.h"
#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/evaluate.h"
#include "kernels/networks/onnx/lower/importing.h"

namespace bench::kernels::onnx {

class Lowering;

struct Lowered {
  std::string name;
  void (*lower)(Lowering& node);  // throws Refused
};

// A node and its surroundings.
class Lowering {
 public:
  Lowering(Importing& network, const Node& lowered) : all(network), node(lowered) {}

  Importing& all;
  const Node& node;

  std::string name() const { return node.name.empty() ? node.outputs.front() : node.name; }

  bool has(std::size_t input) const;
  const Value& in(std::size_t input) const;      // throws Refused, also for a list of values
  const Value& any_in(std::size_t input) const;  // throws Refused
  // The node reads that value as its input.
  void replace(std::size_t input, Value value) { replaced_.insert_or_assign(input, std::move(value)); }
  const Shape& shape(std::size_t input) const { return in(input).shape; }
  std::size_t rank(std::size_t input) const { return shape(input).rank(); }
  std::size_t inputs() const { return node.inputs.size(); }
  // Elements that must be known. Throws Refused: "its axes depend on data".
  const Constant& known(std::size_t input, const std::string& what) const;
  std::optional<std::vector<std::int64_t>> list(const std::string& attribute, std::size_t input,
                                                const std::string& what) const;
  // The dimensions an operator works along; nullopt: not given.
  std::optional<std::vector<std::size_t>> axes(std::size_t input_of_axes) const;
  std::size_t axis(std::int64_t otherwise) const;  // attribute "axis"
  // As the folding of constants sees the node.
  Evaluation evaluation() const;

  Layers::Value layer(std::size_t input, const Uniform& start = {}) const {
    return all.layer(in(input), start);
  }
  Layers::Value elements(std::size_t input) const { return all.elements(in(input)); }
  void require_numbers(std::size_t input) const { all.require_numbers(in(input)); }
  void require_booleans(std::size_t input) const;

  template <class Options>
  Layers::Value append(const std::vector<Layers::Value>& inputs, const Options& options) {
    return all.append(name(), inputs, options);
  }

  // Values on the way to the results. A layer's shape is the value's unless it is given.
  Value value(Layers::Value layer) const { return value(layer, all.graph[layer].shape); }
  Value value(Layers::Value layer, const Shape& shape) const;
  Value value(Constant constant) const;
  // Results.
  void set(Layers::Value layer, std::size_t output = 0);
  void set(Layers::Value layer, const Shape& shape, std::size_t output = 0);
  void set(Value value, std::size_t output = 0);
  void set(Constant constant, std::size_t output = 0);
  void same(std::size_t input) { set(in(input)); }
  // The result is made under a later node's name, which this one replaces.
  void set_as(const Node& later, Layers::Value layer, const Shape& shape);

 private:
  std::map<std::size_t, Value> replaced_;  // by inputs
};

// The weights that an operator reads as such, not as a value.
struct WeightInput {
  std::string parameter;
  Shape shape;
  bool transposed = false;
};
WeightInput weights(const Lowering& node, std::size_t input, const std::string& what);

}  // namespace bench::kernels::onnx
