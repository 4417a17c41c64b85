// What another machine's batch sweep says of the consumer it would be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

struct OtherResult {
  std::string workload;
  std::string device;  // as its maker calls it
  std::string dtype;
  struct Step {
    std::int64_t batch = 0;
    double ns = 0;
  };
  std::vector<Step> steps;  // growing batches; at least one

  double best_images_per_s() const;
  std::int64_t best_batch() const;
  // Of that batch: measured, or between two measured ones on a line. Throws UsageError naming --consumer
  // where it lies outside of them.
  double step_ns(std::int64_t batch) const;
};

// The file's JSON; throws UsageError naming the option.
Json json_in(const std::string& option, const std::string& path);

// Points of a batch sweep in the dtype, or in the file's first where none is given. Throws UsageError naming
// the option, also where the file holds no such point.
OtherResult other_result(const std::string& option, const std::string& path,
                         std::optional<std::string> dtype);

}  // namespace bench::sweeps
