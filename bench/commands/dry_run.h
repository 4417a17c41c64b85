// What --dry-run answers: the points of a run, the memory that each is planned to take, and how long the run
// would take.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/cli/table.h"
#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/run/run_budget.h"
#include "bench/sweep.h"

namespace bench {

struct DryRun {
  const std::string& sweep;
  const SweepRequest& request;
  Device& device;
  const SweepPlan& plan;
  std::vector<PlannedPoint> points;  // of the plan's, in their order
  std::vector<Finding> answers;      // of the sweep, that rest on plans alone
  std::vector<TextTable> tables;     // of the sweep, without measured points
  const RunBudget& budget;
};

// In the options' format; text fits the terminal behind standard output.
void print_dry_run(std::ostream& out, const DryRun& run, const Options& options);

}  // namespace bench
