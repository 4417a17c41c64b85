// What the file's graph tells before its nodes are read: who reads a value, and what the output needs.
#pragma once

#include <string>

namespace bench::kernels::onnx {

class Importing;

// Fills in `readers`: those of nested graphs too, and nullptr for each output.
void count_readers(Importing& network);

// Returns the network's output, the first of floats. Nodes that only others need count as absorbed.
// `file`: as messages name it. Throws UsageError where there is no output.
std::string find_needed(Importing& network, const std::string& file);

}  // namespace bench::kernels::onnx
