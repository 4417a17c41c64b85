// A number for a network, by which result files tell networks apart.
#pragma once

#include <cstdint>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// Hash of a graph whose nodes are in order. hash.cpp lists the parts that count.
std::uint64_t graph_hash(const Model& model);

}  // namespace bench::kernels::onnx
