// The workload `gemm`: a matrix product, batch × inner times inner × columns. A sample is one row.
#include "kernels/device/cuda/tf32_override.h"
#include "kernels/matmul/matmul.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

Matmul described(const WorkloadSpec& spec) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  Matmul product;
  product.rows = spec.batch;
  product.inner = whole_option(spec, "inner", 1, kMost);
  product.columns = whole_option(spec, "columns", 1, kMost);
  product.dtype = spec.dtype;
  return product;
}

constexpr Tolerances kTolerances{.fp32 = 1e-5, .tf32 = 3e-3, .fp16 = 3e-3, .bf16 = 1.5e-2};

const Registration<WorkloadType> registered{operation_workload(OperationType<Matmul>{
    .name = "gemm",
    .description = "matrix product; the batch is its number of rows",
    .modes = {"forward"},
    .options = {{"inner", "1024", "length of the sums, 1 to 2^20"},
                {"columns", "1024", "columns of the result, 1 to 2^20"}},
    .described = described,
    .single = single_row<Matmul>,
    .sample_bytes =
        [](const Matmul& product) { return 4.0 * static_cast<double>(product.inner + product.columns); },
    .tolerance = [](const Matmul& product) { return kTolerances.of(product.dtype); },
    .computed_otherwise =
        [](const WorkloadSpec& spec, const Device& device) {
          return cuda::libraries_compute_otherwise(device, spec.dtype);
        }})};

}  // namespace
}  // namespace bench::kernels
