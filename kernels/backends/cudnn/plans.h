// cuDNN's plans for a graph: how they are listed, which of them are tried, with how much workspace, and which
// are left once they have been built. Includes no header of cuDNN: toolkit/run_graph.cpp calls it, and a test
// can replace the plans.
//
// Listing plans asks cuDNN's heuristics and runs nothing. For a card that is not here cuDNN leaves out the
// plans whose kernels it would compile at run time.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/clock.h"
#include "kernels/backends/cudnn/graphs.h"
#include "kernels/devices/cuda/card.h"

struct CUstream_st;

namespace bench::kernels::cudnn {

// One engine with its settings. A graph has up to about forty, in the order the heuristics expect them
// to be fast, then those that support anything.
struct Plan {
  std::int64_t engine = 0;     // cuDNN's number of it, within the kind of graph
  std::int64_t workspace = 0;  // bytes
  bool tensor_cores = false;
  bool narrows_inputs = false;  // converts them to a narrower type
  bool narrows_sums = false;    // adds partial sums in a narrower type than fp32
  bool compiles = false;        // its kernel is compiled when the plan is built
  bool unknown = false;         // not to be used: cuDNN does not say its engine or workspace, or it was freed
  // Side of the tiles that Winograd's algorithm transforms: 4 is F(2×2, 3×3); 0 for other algorithms.
  int winograd_tile = 0;
};

// What cuDNN notes of it: "tensor cores, compiled at run time"; "nothing" where there is nothing.
std::string notes_of(const Plan& plan);

// What a plan multiplies of the direct algorithm's products: 4/9 for a 3×3 filter in tiles of 4, 1/4 in tiles
// of 6, 1 for other algorithms than Winograd's.
double share_of_products(const Plan& plan, const Conv2d& convolution);

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
  kRowSums,       // scratch: a number for each row of scores, fp32
  kDiffQuerySum,  // scratch: the query's gradient while it is summed up in fp32, a head after the other
  kTensorIds
};

// The device memory of a run. Tensors that the graph does not have are ignored.
struct PlanArguments {
  std::array<void*, kTensorIds> tensors{};
  void* workspace = nullptr;
  void*& operator[](TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
  void* operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  auto operator<=>(const PlanArguments&) const = default;
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
  // Frees what the others take, some 25 KB each: they become `unknown`.
  virtual void keep_only(std::span<const std::size_t> /*plans*/) {}
  // Keeps a plan that was compiled and has run for later processes, whose build() then loads it.
  virtual void keep(std::size_t /*plan*/) {}
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
  std::function<std::unique_ptr<Plans>(const Conv2d& convolution, cuda::Card& card)> plans;
  std::function<std::unique_ptr<Plans>(const Attention& spec, cuda::Card& card)> attention_plans{};
};

// Throws Unsupported where the program has no cuDNN.
const PlanSource& plan_source();

// Why cuDNN plans nothing for cards of this compute capability (75 for 7.5); nullopt where it knows them.
// Throws Unsupported where there is no cuDNN.
std::optional<std::string> unknown_capability(int capability);

// The card keeps the answers: heuristics take a millisecond or more, and a network is planned several times.
// Throws Unsupported with cuDNN's reason where there is no plan.
std::shared_ptr<Plans> plans_for(const Conv2d& convolution, cuda::Card& card);
std::shared_ptr<Plans> plans_for(const Attention& spec, cuda::Card& card);

// The most workspace a plan may have, in bytes: a second copy of source, result and weights, for kernels that
// rearrange their tensors, and 4 MiB for their notes; in all at least 32 MiB and at most 1 GiB.
// Without a cap some plans take gigabytes: on a T4 the first layer's backward-data wants 6.8 GB.
std::int64_t workspace_cap(const Conv2d& convolution);

// Whether a plan computes what the dtype promises. fp32 keeps to the ordinary cores; tf32 may use the tensor
// cores, which drop 13 bits of each factor: that is how the two differ. Both sum in fp32; in 16 bits partial
// sums may be added in the dtype, as PyTorch allows.
bool keeps(const Plan& plan, Dtype dtype);
// Whether it may be used at all, whatever it rounds.
bool is_known(const Plan& plan, Dtype dtype);
using Accepts = bool (*)(const Plan& plan, Dtype dtype);

// The tensor cores; in fp32, which may not use them, the ordinary ones.
bool uses_best_units(const Plan& plan, Dtype dtype);
// So many plans on the best units are enough to find a fast one among them.
inline constexpr std::size_t kEnough = 3;
// A plan whose kernel is compiled when it is built takes 0.3 to 1.5 s, for each convolution of a network: one
// is tried where fewer than kEnough others are on the best units, else none. Attention, whose plans are all
// compiled, may try more until one can be built.
inline constexpr std::size_t kMostCompiled = 1;

struct Selection {
  std::vector<std::size_t> plans;  // into the list, the heuristics' favourite first, compiled ones last
  // The last one that qualifies, where it is not among them: it supports anything, but is slow. Used where
  // none of the others can be built.
  std::optional<std::size_t> reserve;
  std::int64_t workspace = 0;  // bytes, enough for each of them
};

// The first `most` plans that are accepted, by default those that keep the dtype's promise, within the cap.
// Where none has so little workspace, the one with the least: a graph that runs is worth more than the cap.
// Empty where none is accepted.
Selection select(std::span<const Plan> plans, Dtype dtype, std::int64_t cap, std::size_t most,
                 Accepts accepts = keeps, std::size_t most_compiled = kMostCompiled);

struct Candidate {
  std::shared_ptr<Plans> plans;
  std::size_t plan = 0;
  bool bare = false;      // bias, residual and activation are left to our own kernel
  bool reserve = false;   // only for where none of the others can be used
  bool compiles = false;  // as Plan's
};

struct Candidates {
  std::vector<Candidate> all;  // reserves last
  std::int64_t workspace = 0;  // bytes, enough for each of them
};

// The selected ones of `plans`, which keeps no others; none where none is accepted.
Candidates candidates_of(const std::shared_ptr<Plans>& plans, Dtype dtype, std::int64_t cap, std::size_t most,
                         bool bare = false, Accepts accepts = keeps,
                         std::size_t most_compiled = kMostCompiled);

// Once the bound has passed since the end of the first build, which may open a library, no further plan is
// built unless none is usable so far: with a bound of 0, the first that is usable.
inline constexpr std::chrono::nanoseconds kMostBuilding = std::chrono::seconds(2);

// The time that compiling may take of one workload's preparation, for all its operations together.
class CompileBudget {
 public:
  static constexpr std::chrono::nanoseconds kOfAWorkload = std::chrono::seconds(5);
  explicit CompileBudget(const cuda::Card& card) : workload_(card.workload()) {}

  // The card's, full again for its next workload.
  static CompileBudget& of(cuda::Card& card);

  bool is_spent() const { return left_ <= std::chrono::nanoseconds(0); }
  void spend(std::chrono::nanoseconds time) { left_ -= time; }

 private:
  std::int64_t workload_;  // as Card's
  std::chrono::nanoseconds left_ = kOfAWorkload;
};

// Builds the candidates (at least one), compiled ones last, and returns the usable ones in their order. A
// candidate is dropped if cuDNN cannot build it, if memory is short, if the built plan needs more than
// `workspace`, the bytes planned from the heuristics, or if the time is over; a compiled one also if `budget`
// is spent and another is usable. Reserves are built only if no other candidate is usable.
//
// If none is usable, throws OutOfMemory if one lacked memory, else Unsupported with cuDNN's last reason; both
// name `what`. The candidates are unchanged and may be tried again. Throws Interrupted, before a plan, if the
// run is to end.
std::vector<Candidate> prepared(const std::vector<Candidate>& candidates, std::int64_t workspace,
                                std::string_view what, CompileBudget& budget,
                                std::chrono::nanoseconds bound = kMostBuilding,
                                const Clock& clock = steady_clock());

}  // namespace bench::kernels::cudnn
