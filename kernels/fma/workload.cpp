// The workload `fma`: arithmetic on every element between one read and one write. A sample is one row.
#include "kernels/fma/fma.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

Fma described(const WorkloadSpec& spec) {
  constexpr std::int64_t kMost = std::int64_t{1} << 36;
  constexpr std::int64_t kMostSteps = 65536;
  Fma fma;
  fma.rows = spec.batch;
  fma.count = whole_option(spec, "elements", 1, kMost);
  fma.steps = whole_option(spec, "steps", 1, kMostSteps);
  fma.dtype = spec.dtype;
  return fma;
}

Fma single(Fma fma) {
  fma.rows = 1;
  fma.dtype = Dtype::fp32;
  return fma;
}

// A step rounds once; errors shrink by kFactor with every later step, so at most 128 of them add up.
double tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
    case Dtype::tf32:
      return 2e-5;
    case Dtype::fp16:
      return 6e-2;
    case Dtype::bf16:
      return 0.5;
  }
  return 0;
}

const Registration<WorkloadType> registered{operation_workload(
    OperationType<Fma>{.name = "fma",
                       .description = "multiply-adds on every element between one read and one write",
                       .modes = {"forward"},
                       .options = {{"elements", "4194304", "elements of a sample's row, 1 to 2^36"},
                                   {"steps", "64", "multiply-adds on each element, 1 to 65536"}},
                       .described = described,
                       .single = single,
                       .sample_bytes = [](const Fma& fma) { return 8.0 * static_cast<double>(fma.count); },
                       .tolerance = tolerance})};

}  // namespace
}  // namespace bench::kernels
