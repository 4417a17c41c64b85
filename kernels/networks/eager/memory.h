// Memory of a step of eager PyTorch that grows with the batch, from the tensors that live.
#pragma once

#include "kernels/networks/eager/trace.h"
#include "kernels/networks/eager/widths.h"

namespace bench::kernels {

// What code saves beyond what its network needs.
struct SavedForms {
  bool activations = false;  // functions of elements that may be written out are: GELU
  bool norms = false;        // norms of rows, too
};

// Bytes a sample at the peak, without the network's input. Training: the tensors that autograd has saved,
// each once, and those that the operation at the peak reads and writes. Inference: the tensors that a later
// operation reads, and what the operation at the peak writes and casts.
double eager_peak_bytes(const EagerTrace& trace, const EagerWidths& widths, bool train,
                        const SavedForms& forms = {});

}  // namespace bench::kernels
