// The workload `fma`: arithmetic on every element between one read and one write. A sample is one row.
#include "kernels/fma/fma.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::string_view kTensorCores = "tensor-cores";

Fma described(const WorkloadSpec& spec) {
  constexpr std::int64_t kMost = std::int64_t{1} << 36;
  constexpr std::int64_t kMostSteps = 65536;
  Fma fma;
  fma.kind = spec.mode == kTensorCores ? Fma::Kind::tiles : Fma::Kind::chains;
  fma.rows = spec.batch;
  fma.count = whole_option(spec, "elements", 1, kMost);
  fma.steps = whole_option(spec, "steps", 1, kMostSteps);
  fma.dtype = spec.dtype;
  return fma;
}

// A chain rounds in each step; errors shrink by kFactor with every later one, so at most 128 of them add up.
constexpr Tolerances kChainTolerances{.fp32 = 2e-5, .tf32 = 2e-5, .fp16 = 6e-2, .bf16 = 0.5};
// Tiles are added up in fp32: a few times the rounding of src and dst.
constexpr Tolerances kTileTolerances{.fp32 = 2e-5, .tf32 = 2e-5, .fp16 = 3e-3, .bf16 = 1.5e-2};

double tolerance(const Fma& fma) {
  return (fma.kind == Fma::Kind::tiles ? kTileTolerances : kChainTolerances).of(fma.dtype);
}

const Registration<WorkloadType> registered{operation_workload(OperationType<Fma>{
    .name = "fma",
    .description = "multiply-adds on every element between one read and one write, or on tensor cores",
    .modes = {"forward", std::string(kTensorCores)},
    .options = {{"elements", "4194304", "elements of a sample's row, 1 to 2^36"},
                {"steps", "64",
                 "multiply-adds on each element (of tensor cores: products of its tile), 1 to 65536"}},
    .described = described,
    .single = single_row<Fma>,
    .sample_bytes = [](const Fma& fma) { return 8.0 * static_cast<double>(fma.count); },
    .tolerance = tolerance})};

}  // namespace
}  // namespace bench::kernels
