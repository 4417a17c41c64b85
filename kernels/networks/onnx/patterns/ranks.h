// How many dimensions a node's result has, as far as its inputs' ranks tell.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/networks/onnx/patterns/graph_index.h"

namespace bench::kernels::onnx {

// nullopt: of an operator that is not known here, or of an input of unknown rank.
std::optional<std::size_t> result_rank(const GraphIndex& index, GraphIndex::NodeId id);

}  // namespace bench::kernels::onnx
