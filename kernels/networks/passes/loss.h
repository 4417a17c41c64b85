// The loss of a network that ends in rows of classes: softmax cross-entropy, with its gradient.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/networks/program/recorder.h"

namespace bench::kernels {

// The value that the loss reads: a softmax at the end is part of the loss.
Graph::Value logits_of(const Graph& graph);

// Records the loss of a micro-batch and contributes its gradient to the logits. `micro_batches` are averaged
// over; the labels lie in the block of the input. Throws Unsupported.
void record_loss(ProgramPlan& plan, Recorder& recorder, std::int64_t micro_batch, std::int64_t micro_batches,
                 const std::string& suffix);

}  // namespace bench::kernels
