// The training step of a network as a program: forward pass, softmax cross-entropy, backward pass, optimizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "kernels/networks/graph.h"
#include "kernels/networks/input.h"
#include "kernels/networks/lower.h"
#include "kernels/networks/train/program.h"
#include "kernels/optimizer/optimizer.h"

namespace bench::kernels {

struct TrainOptions {
  Optimizer::Kind optimizer = Optimizer::Kind::sgd;
  std::int64_t accumulate =
      1;                      // micro-batches of the target's batch whose gradients are summed before a step
  bool in_place = true;       // ReLU, sums, normalisation gradients write over inputs that nobody reads later
  bool recompute = false;     // keep only the values between blocks, and compute a block's again (Chen et al.
                              // 2016, arXiv:1604.06174)
  bool loss_scaling = false;  // see kernels/loss_scale/loss_scale.h
  // Bytes of parameters, at least, that are updated together within the backward pass where that can be; 0:
  // all of them behind it. See updates.h.
  std::int64_t update_slice = 256 * 1024;
};

// A parameter of the network: its place in a block of weights, and its gradient's in the block of gradients.
struct TrainedParameter {
  Graph::Value layer = 0;
  Slot slot{};
  std::shared_ptr<Operation> operation;  // packs and unpacks it
  TensorId value = 0;
  TensorId gradient = 0;
};

// Parameters of one dtype lie in one block; their gradients and the optimizer's states in blocks laid out
// alike.
struct ParameterGroup {
  Dtype dtype = Dtype::fp32;
  BlockId weights = 0;
  BlockId gradients = 0;
  std::optional<BlockId> master{};
  std::vector<BlockId> states{};
};

struct TrainingStep {
  Program program;
  // Instructions from here on follow the backward passes; those before that update parameters are marked.
  std::size_t optimizer_begin = 0;
  // With loss scaling, the first of those look for an overflow, and the last one adapts the factor.
  std::optional<TensorId> loss_scale{};
  std::size_t overflow_checks = 0;
  std::vector<TrainedParameter> parameters;
  std::vector<ParameterGroup> groups;
  std::vector<TensorId> inputs;  // one for each micro-batch
  InputBatch input;              // of a micro-batch
  std::vector<TensorId> labels;  // int32[batch][rows] each
  std::vector<TensorId> losses;  // fp32[1] each; their sum is the loss, a mean over all rows of all samples
  std::int64_t classes = 0;
  std::int64_t rows = 1;  // labels a sample: one for each place of the output, h · w
};

// A block of layers between two values on which everything later depends alone, but for skip connections to a
// concatenation.
struct Segment {
  Graph::Value first = 0;
  Graph::Value last = 0;
  std::vector<Graph::Value> inner{};  // whose results no later block reads
};
std::vector<Segment> segments(const Graph& graph);

// `graph` as a network builds it, nothing fused; target.batch is a micro-batch. Throws Unsupported.
TrainingStep training_step(const Graph& graph, const Target& target, const TrainOptions& options,
                           Device& device);

}  // namespace bench::kernels
