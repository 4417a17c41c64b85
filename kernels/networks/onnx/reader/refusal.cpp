#include "kernels/networks/onnx/reader/refusal.h"

#include <fmt/format.h>

#include "bench/text/quote.h"

namespace bench::kernels::onnx {

void Allowance::keep(std::uint64_t bytes) {
  kept_ += bytes;
  if (kept_ > kMostKept) {
    throw Refusal(fmt::format("lists more than {} MiB of nodes, names and attributes; give a smaller network",
                              kMostKept / kMiB));
  }
}

void Allowance::add_node() {
  if (++nodes_ > kMostNodes) {
    throw Refusal(
        fmt::format("has more than {} nodes, functions inlined; give a smaller network", kMostNodes));
  }
}

void Allowance::add_inputs(std::uint64_t count) {
  inputs_ += count;
  if (inputs_ > kMostInputs) {
    throw Refusal(
        fmt::format("has nodes of more than {} inputs together, functions inlined; give a smaller "
                    "network",
                    kMostInputs));
  }
}

bool Allowance::keep_values(std::uint64_t bytes, std::uint64_t element_size) {
  if (bytes > (element_size == 1 ? kLargestBytes : kLargestValues) || bytes > kMostValues - values_) {
    return false;
  }
  values_ += bytes;
  return true;
}

std::string described(const Node& node) {
  return fmt::format("node {} ({})", quote(node.name), printable(node.op));
}

}  // namespace bench::kernels::onnx
