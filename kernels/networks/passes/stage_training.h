// A training step of a rank that has one stage of a network, as a program: its passes over micro-batches in
// the order of the pipeline, then the optimizer. Between passes the ranks hand on results and gradients.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/networks/passes/pipeline.h"
#include "kernels/networks/passes/stages.h"
#include "kernels/networks/passes/training.h"

namespace bench::kernels {

struct StagePass : PipelinePass {
  std::size_t begin = 0, end = 0;  // its instructions
  std::optional<TensorId>
      received{};                  // before it: from the stage before where it is forward, else from behind
  std::optional<TensorId> sent{};  // after it: to the other side
};

// A parameter that layers of several stages have, as GPT-2's embedding and head: each holds a copy. The first
// stage adds up the gradients of all, so that the copies stay the same.
struct SharedGradient {
  TensorId gradient = 0;    // this stage's own, then the sum
  std::vector<int> stages;  // ascending
  // Of the first stage:
  TensorId received = 0;            // another stage's
  std::vector<std::size_t> sums{};  // instructions that add it, by stage behind the first
};

// A parameter of the whole network, as it is trained.
struct ParameterOwner {
  Graph::Value layer = 0;
  Slot slot{};

  auto operator<=>(const ParameterOwner&) const = default;
};

struct StageTraining {
  ProgramPlan plan;
  std::vector<StagePass> passes{};
  std::vector<SharedGradient> shared{};  // in an order that is the same on every rank
  std::vector<ParameterOwner> owners{};  // by parameter of the plan
};

// Values behind which the network can be cut for training.
std::vector<Graph::Value> training_cut_places(const Graph& graph);

// `graph` as a network builds it; target.batch is a micro-batch, of which a step has place.micro_batches.
// Throws Unsupported.
StageTraining plan_stage_training(const Graph& graph, const Target& target, const TrainOptions& options,
                                  const StagePlace& place, Device& device);

}  // namespace bench::kernels
