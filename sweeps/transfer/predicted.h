// Copies to a GPU that is not here: its bus by the data sheet, next to the predicted step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench::sweeps {

// A batch's copy to the device, and the step that reads it.
struct PredictedCopy {
  std::string workload;
  std::string dtype;
  std::int64_t batch = 0;
  std::int64_t bytes = 0;
  std::string unsupported{};  // why nothing is predicted
  double step_ns = 0;
  Interval step80_ns{};
};

// One for each step. The device is modelled.
std::vector<PredictedCopy> predicted_copies(const SweepRequest& request,
                                            const std::vector<WorkloadSpec>& steps, Device& device);

// input/batch:N for each copy, bus; the headlines are the copy of the largest share, and the bus. `link`: as
// pcie_bytes_per_s() takes it; empty: there is no bus.
std::vector<Finding> predicted_transfer_findings(const std::vector<PredictedCopy>& copies,
                                                 const std::string& link);
std::vector<TextTable> predicted_transfer_tables(const std::vector<PredictedCopy>& copies,
                                                 const std::string& link);

}  // namespace bench::sweeps
