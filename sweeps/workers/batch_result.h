// The steps that a batch sweep measured, of another machine or this one: a consumer for the simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/result/result.h"

namespace bench::sweeps {

struct BatchResult {
  std::string workload{};
  std::string device{};  // as its maker calls it
  std::string dtype{};
  struct Step {
    std::int64_t batch = 0;
    double ns = 0;
  };
  std::vector<Step> steps{};  // growing batches; at least one

  const Step& best() const;  // the most samples a second
  // Measured, or on a line between two measured batches. Throws UsageError naming --consumer for a batch
  // outside them.
  double step_ns(std::int64_t batch) const;
};

// Points in the dtype, or in the file's first where none is given. Throws UsageError naming the option, also
// where the file holds no such point.
BatchResult read_batch_result(const std::string& option, const std::string& path,
                              std::optional<std::string> dtype);

}  // namespace bench::sweeps
