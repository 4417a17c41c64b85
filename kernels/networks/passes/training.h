// A network's training step as a program: for each micro-batch the forward pass, the loss and the backward
// pass, then the optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/networks/program/recorder.h"
#include "kernels/operations/optimizer/optimizer.h"

namespace bench::kernels {

struct TrainOptions {
  Optimizer::Kind optimizer = Optimizer::Kind::sgd;
  // Micro-batches of the target's batch whose gradients are summed before a step.
  std::int64_t accumulate = 1;
  // ReLU, sums and gradients of normalisations write over inputs that nobody reads later.
  bool in_place = true;
  // Keep only the values between blocks, and compute a block's again: see recompute.cpp.
  bool recompute = false;
  bool loss_scaling = false;  // see kernels/operations/loss_scale/loss_scale.h
  // That add up their gradients: each is of the mean over the samples of all.
  int ranks = 1;
  // Bytes of parameters, at least, that are updated together within the backward pass where that can be; 0:
  // all of them after it. See updates.cpp.
  std::int64_t update_slice = 256 * 1024;
  // Of ranks that share the optimizer: this one keeps and updates its shares alone, one of each slice of so
  // many bytes at least. 0: it updates everything.
  std::int64_t shared_slice = 0;
  int rank = 0;
};

// `graph` as a network builds it: nothing is fused but attention that is written out; target.batch is a
// micro-batch. Throws Unsupported. Creates descriptions only: nothing is compiled, nothing allocated on the
// device.
ProgramPlan plan_training(const Graph& graph, const Target& target, const TrainOptions& options,
                          Device& device);

// The same program before its tensors have places, for which the memory is searched.
ProgramPlan record_training(const Graph& graph, const Target& target, const TrainOptions& options,
                            Device& device);

// --- Parts of it.

// The network as it is trained, and how its values are stored: attention that is written out becomes a layer,
// the output becomes rows of classes.
ProgramPlan trained(const Graph& graph, const Target& target);
// The value that the loss reads: a softmax at the end is part of the loss.
Graph::Value logits_of(const Graph& graph);
// Up to this one.
Graph first_layers(const Graph& graph, Graph::Value last);
// Winograd's transforms may take a twelfth of what the layers' results would take if all were kept.
// Recomputation asks for little memory, not for speed.
ExtraBytes convolution_scratch(const ProgramPlan& plan, const TrainOptions& options);

// Records the loss of a micro-batch, softmax cross-entropy over rows of classes, and contributes its gradient
// to the logits. The micro-batches of all ranks are averaged over. Throws Unsupported.
struct RecordedLoss {
  Graph::Value logits = 0;
  BlockId labels = 0;  // the block that they lie in
  std::int64_t micro_batch = 0;
  std::string suffix;  // of the instruction's name
};
void record_loss(ProgramPlan& plan, Recorder& recorder, const RecordedLoss& wanted,
                 const TrainOptions& options);

// A block of layers between two values on which everything later depends alone, but for skip connections to a
// concatenation.
struct Segment {
  Graph::Value first = 0;
  Graph::Value last = 0;
  std::vector<Graph::Value> inner{};  // whose results no later block reads
};
std::vector<Segment> segments(const Graph& graph);
// Records the backward pass from `logits` on, block by block: a block's inner values are computed again from
// the value before it, which is kept, as is what a concatenation reads from an earlier block.
void record_backward_by_segments(Recorder& recorder, const Graph& graph, Graph::Value logits);

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
// Equal shares of a slice, rank after rank from its start, and what is left behind them, which every rank
// updates.
struct RankShares {
  std::int64_t each = 0;  // bytes
  std::int64_t rest = 0;
};
RankShares shares_of(std::int64_t bytes, int ranks);

// Completes a step whose backward passes are recorded with the optimizer's part.
void record_updates(ProgramPlan& plan, Recorder& recorder, const TrainOptions& options, const Device& device);

}  // namespace bench::kernels
