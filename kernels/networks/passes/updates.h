// The optimizer's part of a training step.
//
// On a device whose memory is the host's, parameters are updated in slices within the last micro-batch's
// backward pass, each as soon as nothing reads its weights or adds to its gradients any more: both are still
// in the caches then. With loss scaling all gradients have to be seen first, and on other devices a launch
// costs more than it saves: there one update of everything follows the backward pass. The arithmetic is the
// same, element by element, and so is the memory.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/networks/passes/training.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {

// Neighbouring parameters of a group, updated together.
struct UpdateSlice {
  std::size_t behind = 0;   // the last instruction that touches them or their gradients
  std::int64_t offset = 0;  // bytes, in the group's block of weights
  std::int64_t bytes = 0;
  Graph::Value layer = 0;  // the first of theirs
};

// Slices of at least `least` bytes, but the one at the block's start; together the whole block. In the order
// in which they can be updated.
std::vector<UpdateSlice> update_slices(const ProgramPlan& plan, const ParameterGroup& group,
                                       std::int64_t least);

// Completes a step whose backward passes are recorded.
void record_updates(ProgramPlan& plan, Recorder& recorder, const TrainOptions& options, const Device& device);

}  // namespace bench::kernels
