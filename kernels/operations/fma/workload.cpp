// The workload `fma`: arithmetic on every element between one read and one write. A sample is one row.
#include "kernels/operations/fma/fma.h"
#include "kernels/workloads/kernel_points.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::string_view kTensorCores = "tensor-cores";

const WholeOption kRowElements{"elements", 4 * kMi, 1, std::int64_t{1} << 36, "elements of a sample's row"};
const WholeOption kSteps{
    "steps", 64, 1, 65536,
    "multiply-adds on each element (of tensor cores: products of its tile by wmma, which "
    "reaches 60 to 65 % of wgmma's rate on compute capability 9.0)"};

Fma read_fma(const WorkloadSpec& spec) {
  Fma fma;
  fma.kind = spec.mode == kTensorCores ? Fma::Kind::tiles : Fma::Kind::chains;
  fma.rows = spec.batch;
  fma.count = kRowElements.read(spec);
  fma.steps = kSteps.read(spec);
  fma.dtype = spec.dtype;
  return fma;
}

// 16 bits wide; where there is no such dtype one of the others, whose answer says why not.
std::vector<Dtype> tensor_core_dtypes(const KernelRequest& request) {
  std::vector<Dtype> narrow = dtypes_where(request, [](Dtype dtype) { return bytes_of(dtype) == 2; });
  return narrow.empty() ? std::vector<Dtype>{request.dtypes.front()} : narrow;
}

// Hot only: between its one read and its one write an element stays in a register, so that cold caches
// change the first steps' time as they do a copy's, and of many steps nothing. The most steps are the roof.
std::vector<KernelPoint> fma_points(const KernelRequest& request, const Device& device) {
  constexpr std::int64_t kMostSteps = 1024;
  const bool card = needs_large_work(device);
  KernelPoints points(request);
  for (const std::string& mode : request.modes) {
    const bool tiles = mode == kTensorCores;
    const std::vector<Dtype> dtypes = tiles  ? tensor_core_dtypes(request)
                                      : card ? request.dtypes
                                             : given_dtypes_or(request, {Dtype::fp32});
    // A device or a dtype without tensor cores says so once, unless they were asked for.
    const bool refused = tiles && !request.modes_given && (!card || bytes_of(dtypes.front()) != 2);
    const std::vector<std::int64_t> steps = refused
                                                ? std::vector<std::int64_t>{kMostSteps}
                                                : std::vector<std::int64_t>{1, 4, 16, 64, 256, kMostSteps};
    for (const Dtype dtype : dtypes) {
      for (const std::int64_t rows : batches_or(request, {1})) {
        for (const std::int64_t count : steps) {
          points.add(mode, dtype, rows, {{"elements", card ? 16 * kMi : 4 * kMi}, {"steps", count}},
                     {.is_reference = count == kMostSteps});
        }
      }
    }
  }
  return std::move(points).take();
}

// A chain rounds in each step; errors shrink by kFactor with every later one, so at most 128 of them add up.
constexpr Tolerances kChainTolerances{.fp32 = 2e-5, .tf32 = 2e-5, .fp16 = 6e-2, .bf16 = 0.5};
// Tiles are added up in fp32: a few times the rounding of src and dst.
constexpr Tolerances kTileTolerances{.fp32 = 2e-5, .tf32 = 2e-5, .fp16 = 3e-3, .bf16 = 1.5e-2};

double tolerance(const Fma& fma) {
  return (fma.kind == Fma::Kind::tiles ? kTileTolerances : kChainTolerances).of(fma.dtype);
}

const Registration<WorkloadType> BENCH_REGISTERED{operation_workload(
    OperationType<Fma>{.name = "fma",
                       .description = "multiply-adds on every element of an array; on tensor cores by wmma",
                       .modes = {"forward", std::string(kTensorCores)},
                       .options = declare(kRowElements, kSteps),
                       .describe = read_fma,
                       .single = single_row<Fma>,
                       .sample_bytes = [](const Fma& fma) { return 8.0 * static_cast<double>(fma.count); },
                       .tolerance = tolerance,
                       .kernel_points = fma_points})};

}  // namespace
}  // namespace bench::kernels
