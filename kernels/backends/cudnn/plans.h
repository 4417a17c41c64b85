// cuDNN's plans for a graph, behind an interface without cuDNN's headers: toolkit/run_graph.cpp calls cuDNN,
// a test may bring plans of its own.
//
// Listing plans asks cuDNN's heuristics and runs nothing. For a card that is not here cuDNN leaves out the
// plans whose kernels it would compile at run time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/backends/cudnn/attention.h"
#include "kernels/backends/cudnn/convolution.h"
#include "kernels/devices/cuda/card.h"

struct CUstream_st;

namespace bench::kernels::cudnn {

// One engine with its settings. A graph has up to about forty, in the order the heuristics expect them
// to be fast, then those that support anything.
struct Plan {
  std::int64_t engine = 0;     // cuDNN's number of it, within the kind of graph
  std::int64_t workspace = 0;  // bytes
  bool tensor_cores = false;
  bool narrows = false;   // converts inputs to a narrower type, or sums in one
  bool compiles = false;  // its kernel is compiled when the plan is built
  bool unknown = false;   // cuDNN does not say its engine or workspace: not to be used
};

// Tensors in memory, as graphs and their runs number them; 0 is none.
enum TensorId : std::int64_t {
  // of a convolution
  kX = 1,
  kW,
  kY,
  kBias,  // of the convolution's dtype
  kResidual,
  // of attention; gradients as their tensors
  kQuery,
  kKey,
  kValue,
  kOut,
  kStatistics,
  kDiffOut,
  kDiffQuery,
  kDiffKey,
  kDiffValue,
  kRowSums,       // scratch of row_values(), fp32
  kDiffQuerySum,  // scratch of dense(), fp32
  kTensorIds
};

// The device memory of a run. Tensors that the graph does not have are ignored.
struct PlanArguments {
  std::array<void*, kTensorIds> tensors{};
  void* workspace = nullptr;
  void*& operator[](TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
  void* operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
};

class Plans {
 public:
  virtual ~Plans() = default;
  virtual std::span<const Plan> list() const = 0;
  // "eng41_k2=28_k19=0": the engine and its settings, as cuDNN writes them.
  virtual std::string name(std::size_t plan) const = 0;
  // Makes a plan ready to run and returns the workspace it really takes, in bytes; nullopt where cuDNN cannot
  // after all. Only on a device that is here.
  // Throws OutOfMemory where memory was what it lacked: it may be tried again.
  virtual std::optional<std::int64_t> build(std::size_t plan) = 0;
  // cuDNN's reason for the last plan that could not be built; empty where none was refused.
  virtual std::string last_refusal() const = 0;
  // Queues a plan that was built. Throws OutOfMemory, DeviceLost, else runtime_error, naming the graph,
  // the plan, cuDNN's message and the place.
  virtual void run(std::size_t plan, CUstream_st* stream, const PlanArguments& arguments) = 0;
};

// Where plans come from: registered as "cudnn" in a program that has cuDNN.
struct PlanSource {
  std::string name;
  std::function<std::int64_t()> version;   // 91900 is 9.19.0
  std::function<int()> newest_capability;  // that it knows: 120 is 12.0
  // Asks cuDNN. Throws Unsupported, and OutOfMemory where cuDNN had no memory to plan with.
  std::function<std::unique_ptr<Plans>(const Convolution& convolution, cuda::Card& card)> plans;
  std::function<std::unique_ptr<Plans>(const AttentionPass& pass, cuda::Card& card)> attention_plans{};
};

// Answers, and tunings, that a card keeps: those of a sweep over a network's batches.
inline constexpr std::size_t kMostKept = 2048;

// Throws Unsupported where the program has no cuDNN.
const PlanSource& plan_source();

// The card keeps the answers, those used last: heuristics take a millisecond or more, and a network is
// planned several times. Throws Unsupported with cuDNN's reason where there is no plan.
std::shared_ptr<Plans> plans_for(const Convolution& convolution, cuda::Card& card);
std::shared_ptr<Plans> plans_for(const AttentionPass& pass, cuda::Card& card);

}  // namespace bench::kernels::cudnn
