// Bytes of an element of each tensor of a step: in fp32 4, of a network cast whole 2, and under autocast by
// PyTorch's lists of operations.
#pragma once

#include <vector>

#include "bench/dtype.h"
#include "kernels/networks/eager/trace.h"

namespace bench::kernels {

struct EagerWidths {
  bool autocast = false;
  double narrow = 4;            // of a product's operands
  std::vector<double> tensors;  // by their number in the trace
};

// cast_whole: in 16 bits without autocast.
EagerWidths eager_widths(const EagerTrace& trace, Dtype dtype, bool cast_whole);

}  // namespace bench::kernels
