// Measurements of the transfer sweep after its points: the cost of pinning, how long a copy holds the calling
// thread, and a workload's steps with the copy of the next batch before and overlapped with them.
#pragma once

#include <vector>

#include "bench/sweep.h"
#include "bench/transfers.h"
#include "sweeps/transfer/options.h"
#include "sweeps/transfer/state.h"

namespace bench::sweeps {

struct TransferStudy {
  SweepStudy& sweep;
  Transfers& transfers;
  const TransferOptions& options;
};

std::vector<PinningCost> study_pinning(const TransferStudy& study);
std::vector<CallTime> study_calls(const TransferStudy& study);
// At least three rounds, then until `budget_ns` have passed.
StepStudy study_steps(const TransferStudy& study, const WorkloadSpec& spec, double budget_ns);

}  // namespace bench::sweeps
