#include "sweeps/transfer/studied.h"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {

std::vector<std::int64_t> studied_batches(const SweepRequest& request, const Device& device) {
  if (!request.batches.empty()) {
    return request.batches;
  }
  return {device.info().kind == "cpu" ? 4 : 32};
}

WorkloadSpec studied_step(const SweepRequest& request, std::int64_t batch) {
  WorkloadSpec spec;
  spec.mode = request.modes.front();
  spec.dtype = request.dtypes.empty() ? Dtype::fp32 : request.dtypes.front();
  spec.batch = batch;
  spec.seed = request.seed;
  for (const auto& [name, values] : option_values(request, spec.mode)) {
    spec.options[name] = values.front();
  }
  return spec;
}

void check_studied(const SweepRequest& request, const Device& device) {
  if (request.dtypes.size() > 1) {
    std::vector<std::string> names;
    for (const Dtype dtype : request.dtypes) {
      names.emplace_back(name_of(dtype));
    }
    throw UsageError(
        fmt::format("--dtype: {} were given; accepted by --sweep transfer: one, that of the step",
                    fmt::join(names, ", ")));
  }
  for (const std::int64_t batch : studied_batches(request, device)) {
    request.workload->check(studied_step(request, batch));
  }
}

}  // namespace bench::sweeps
