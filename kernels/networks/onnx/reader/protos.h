// ModelProto and what it contains, as the file has them: field numbers are those of onnx.proto
// (github.com/onnx/onnx, IR version 10).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/networks/onnx/model.h"
#include "kernels/networks/onnx/reader/wire.h"

namespace bench::kernels::onnx {

// FunctionProto: an operator made of nodes.
struct Function {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> defaults;  // of attributes that a caller may leave out
  std::vector<Node> nodes;
  std::map<std::string, std::int64_t> opsets;
};

struct Protos {
  Model model;  // nodes as they are written: in the file's order, calls of functions among them
  std::vector<Function> functions;
};

// Throws Refusal.
Protos read_protos(wire::Input& input, Allowance& allowance);

}  // namespace bench::kernels::onnx
