// Measurements of the transfer sweep after its points: the cost of pinning, how long a copy holds the calling
// thread, and a workload's steps with the copy of the next batch before and overlapped with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/json.h"
#include "bench/stats/estimate.h"
#include "bench/sweep.h"
#include "bench/transfers.h"

namespace bench::sweeps {

// Making and freeing host memory with its pages touched; medians.
struct PinningCost {
  std::int64_t bytes = 0;
  std::string unsupported{};  // why there are no times
  Estimate pin_ns{};
  double unpin_ns = 0;
  double pageable_ns = 0;        // making ordinary memory
  double free_ns = 0;            // freeing it
  std::int64_t taken_bytes = 0;  // by which the host's memory in use grew
};

// One copy on a queue of its own, by wall clock.
struct CallTime {
  std::string direction;
  std::string kind;  // of the host's memory
  std::int64_t bytes = 0;
  Estimate returns_ns;  // until the call returns
  Estimate done_ns;     // until the copy is done
  double cpu_ns = 0;    // of the calling thread
};

// By round, in nanoseconds.
struct StepSamples {
  std::vector<double> copy{}, serial{}, overlapped{}, compute_overlapped{};
};

// A workload's steps with one kind of host memory.
struct KindSteps {
  std::string name;           // "pageable", "staged", "pinned"
  std::string unsupported{};  // why there are no times
  Estimate copy_ns{};         // of the batch, alone
  Estimate serial_ns{};       // a step: copy, then compute
  Estimate overlapped_ns{};   // a step: compute, while another thread copies the next batch
  Estimate compute_overlapped_ns{};
  StepSamples samples{};

  // As it does best: a second thread is at hand with pageable memory too.
  const Estimate& best() const { return overlaps() ? overlapped_ns : serial_ns; }
  const std::vector<double>& best_samples() const { return overlaps() ? samples.overlapped : samples.serial; }
  bool overlaps() const { return overlapped_ns.value < serial_ns.value; }
};

struct StepStudy {
  std::string workload;
  std::string mode{};
  std::string dtype = "fp32";
  std::int64_t batch = 0;
  std::string unsupported{};  // why nothing was measured
  std::int64_t bytes = 0;     // of the batch
  std::int64_t rounds = 0;
  Estimate compute_ns{};
  std::vector<double> compute_samples{};  // by round, in nanoseconds
  std::vector<KindSteps> kinds{};

  // nullptr where it was not measured.
  const KindSteps* kind(const std::string& name) const;
};

struct TransferState {
  bool crosses_bus = false;
  std::int64_t workers = 0;
  std::int64_t prefetch = 0;
  std::string node;
  std::vector<PinningCost> pinning{};  // by size
  std::vector<CallTime> calls{};
  std::vector<StepStudy> steps{};  // one a batch
};

// The file's sweep.transfer: {"crosses_bus", "workers", "prefetch", "node"}, and where they were measured
//   "pinning": [{"bytes", "pin_ns", "pin_ci95_ns", "unpin_ns", "pageable_ns", "free_ns", "taken_bytes"}, or
//   {"bytes", "unsupported": why}];
//   "calls": [{"direction", "host_memory", "bytes", "returns_ns", "returns_ci95_ns", "done_ns",
//   "done_ci95_ns", "cpu_ns"}];
//   "steps": [{"workload", "mode", "dtype", "batch", "bytes", "rounds", "compute": time, "kinds":
//   [{"host_memory", "copy": time, "serial": time, "beside": time, "compute_beside": time}, or
//   {"host_memory", "unsupported": why}]}, or {…, "unsupported": why}], where a time is {"median_ns",
//   "ci95_ns", "samples_ns"} and "beside" is the overlapped step.
Json to_json(const TransferState& state);
// As a file has it; without the member, of a device that is not here, what a state is by default. Throws
// UsageError.
TransferState transfer_state_in(const ResultDocument& document);

// The studies run on these. `node` is that of the host memory, see node_named().
struct TransferStudy {
  SweepStudy& sweep;
  Transfers& transfers;
  const std::string& node;
};

// Each ends with the time budget, after the round that is under way; study_pinning() measures one size even
// where none is left.
std::vector<PinningCost> study_pinning(const TransferStudy& study);
std::vector<CallTime> study_calls(const TransferStudy& study);
// At least three rounds, then until `budget_ns` have passed. Fewer are no measurement: `unsupported` says so.
StepStudy study_steps(const TransferStudy& study, const WorkloadSpec& spec, double budget_ns);

}  // namespace bench::sweeps
