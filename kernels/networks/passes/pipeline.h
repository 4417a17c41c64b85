// The order in which a stage of a network passes over micro-batches in a training step: one forward, one
// backward (1F1B; PipeDream-Flush, Narayanan et al. 2021, arXiv:2006.09503).
//
// A stage first passes forward over as many micro-batches as there are stages behind it, then by turns
// forward over one and backward over the oldest one, then backward over those that are left. So it keeps the
// activations of few micro-batches, however many a step has.
#pragma once

#include <cstdint>
#include <vector>

namespace bench::kernels {

enum class PassKind { forward, backward };

struct PipelinePass {
  PassKind kind = PassKind::forward;
  std::int64_t micro_batch = 0;

  bool operator==(const PipelinePass&) const = default;
};

// Stages count from 0.
std::vector<PipelinePass> pipeline_passes(int stage, int stages, std::int64_t micro_batches);

// The most micro-batches that are forward and not yet backward.
std::int64_t most_in_flight(int stage, int stages, std::int64_t micro_batches);

}  // namespace bench::kernels
