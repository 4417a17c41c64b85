// Nodes that hold graphs: If takes the branch of a known condition, and Loop runs its body as often as is
// known.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/networks/onnx/inputs.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {

class ControlFlow {
 public:
  // Imports the nodes of a nested graph; false where one was refused.
  using Run = std::function<bool(const Graph&)>;

  ControlFlow(Importing& network, const InputPlan& plan, Run run)
      : network_(network), plan_(plan), run_(std::move(run)) {}

  static bool is_one(const std::string& op) { return op == "If" || op == "Loop"; }
  void import(const Node& node);  // throws Refused

  // Within a loop, where a value may be read again.
  bool is_repeating() const { return loops_ > 0; }

 private:
  void choose_branch(const Node& node);
  void unroll(const Node& node);
  bool truth(const std::string& name, const Node& node, const std::string& what);
  void require_no_data(const std::string& name, const Node& node, const std::string& what);
  const Value& result(const std::string& name);
  void set(const std::string& name, Value value);

  Importing& network_;
  const InputPlan& plan_;
  Run run_;
  int loops_ = 0;              // that are being unrolled
  std::int64_t unrolled_ = 0;  // nodes of all turns of all loops
};

}  // namespace bench::kernels::onnx
