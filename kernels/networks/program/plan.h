// A network's step, planned: the program, where each of its tensors lies and what it takes, before anything
// is allocated or run. Inference is a program without a backward pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/memory.h"
#include "bench/workload.h"
#include "kernels/networks/graph/graph.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/graph/shape.h"
#include "kernels/networks/program/input.h"
#include "kernels/networks/program/placement.h"
#include "kernels/networks/program/program.h"

namespace bench::kernels {

// A parameter of the network: its place in a block of weights, and its gradient's in the block of gradients.
struct PlannedParameter {
  Graph::Value layer = 0;
  Slot slot{};
  std::shared_ptr<Operation> operation;  // packs and unpacks it
  TensorId value = 0;
  TensorId gradient = 0;  // in training
};

// Parameters of one dtype lie in one block; their gradients and the optimizer's states in blocks laid out
// alike. Inference has one group for all.
struct ParameterGroup {
  Dtype dtype = Dtype::fp32;
  BlockId weights = 0;
  BlockId gradients = 0;  // in training, as what follows
  std::optional<BlockId> master{};
  std::vector<BlockId> states{};
};

// A further input of the network, which holds the same seeded values for each sample.
struct FurtherInput {
  Graph::Value layer = 0;
  TensorId tensor = 0;
};

// Parts of a plan that only training has.
struct TrainingParts {
  // Instructions from here on follow the backward passes; those before that update parameters are marked.
  std::size_t optimizer_begin = 0;
  // With loss scaling, the first of those look for an overflow, and the last one adapts the factor.
  std::optional<TensorId> loss_scale{};
  std::size_t overflow_checks = 0;
  std::vector<TensorId> labels;  // int32[batch][rows] for each micro-batch
  std::vector<TensorId> losses;  // fp32[1] each; their sum is the loss, a mean over all rows of all samples
  std::int64_t classes = 0;
  std::int64_t rows = 1;  // labels a sample: one for each place of the output, h · w
};

struct ProgramPlan {
  ProgramPlan(Graph network, Target wanted);

  Graph graph;
  Target target;  // of a micro-batch
  Program program;
  Placement placement;
  std::vector<StoredValue> stored;  // of each node
  std::vector<PlannedParameter> parameters;
  std::vector<PlannedParameter> constants;  // in training: those that it does not move
  std::vector<ParameterGroup> groups;
  InputBatch input;              // of a micro-batch
  std::vector<TensorId> inputs;  // one for each micro-batch
  std::vector<FurtherInput> further_inputs;
  std::optional<TrainingParts> training{};
  std::int64_t library_bytes = 0;  // of compiled code, estimated
  PlainParameter largest_plain;    // on the host; nothing where that is not the device's memory

  // Writes a further input's values of the whole batch to `place`, its tensor in device memory.
  void fill(const FurtherInput& further, std::uint64_t seed, Device& device, std::byte* place) const;

  // The network's result; up to rank 3 as a matrix of rows of the last dimension.
  TensorDesc output() const;
  // Its values, sample after sample, each in the order of the shape's dimensions; from host memory.
  std::vector<float> load_output(const std::byte* bytes) const;

  // How the layer's input is stored, which its weights are arranged for.
  const StoredValue& input_of(const PlannedParameter& parameter) const {
    const auto& from = graph[parameter.layer].inputs;
    return stored[from.empty() ? parameter.layer : from[0]];
  }

  // The bytes that a ProgramRunner allocates, exactly: one allocation for each block, one for the arena and
  // one for scratch. During setup: the blocks that are allocated first and the plain form of the largest
  // parameter, if that is more.
  MemoryPlan memory() const;
  // The blocks and what else is live, for each instruction.
  std::vector<MemoryMoment> timeline() const;
  Work work() const;
  Algorithms algorithms() const;

  // Whether a block is allocated before the parameters are initialised: in training every block, in inference
  // the weights only.
  bool allocated_first(const ProgramBlock& block) const {
    return training.has_value() || block.category == MemoryCategory::weights;
  }
  MemoryByCategory block_bytes(bool allocated_first_only = false) const;
};

// Code that a library compiles and keeps for as many operations, in addition to the memory they are given: an
// estimate, where the host's memory is the device's. Seen with oneDNN 2.6 and AVX-512: 23 to 50 KiB an
// operation, and in 16-bit inference, which has kernels of another family, 0.3 to 0.8 MiB more.
constexpr std::int64_t compiled_code_bytes(std::size_t operations) {
  return static_cast<std::int64_t>(operations) * 38 * 1024;
}
inline constexpr std::int64_t kSixteenBitInferenceCode = std::int64_t{512} << 10;

// Places the tensors of a recorded program, and looks for what takes most while it is made ready. Throws
// nothing; allocates nothing on the device.
void finish_plan(ProgramPlan& plan, const Device& device, ScratchPlace scratch);

}  // namespace bench::kernels
