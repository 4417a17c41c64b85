// A number for a network, by which result files tell networks apart.
#pragma once

#include <cstdint>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// Of a graph whose nodes are in order. See hash.cpp for what counts.
std::uint64_t graph_hash(const Model& model);

}  // namespace bench::kernels::onnx
