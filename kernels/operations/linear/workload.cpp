// The workload `gemm`: a matrix product, batch × inner times inner × columns. A sample is one row.
#include "kernels/devices/cuda/tf32_override.h"
#include "kernels/networks/eager/product.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/workloads/kernel_points.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 20;
const WholeOption kInner{"inner", 1024, 1, kLongest, "length of the sums"};
const WholeOption kColumns{"columns", 1024, 1, kLongest, "columns of the result"};

Linear read_product(const WorkloadSpec& spec) {
  Linear product;
  product.rows = spec.batch;
  product.inner = kInner.read(spec);
  product.columns = kColumns.read(spec);
  product.packed = true;
  product.dtype = spec.dtype;
  return product;
}

NetworkTerms product_terms(const Linear& product) {
  const auto inner = static_cast<double>(product.inner);
  const auto columns = static_cast<double>(product.columns);
  const auto width = static_cast<double>(bytes_of(product.dtype));
  const EagerProduct row{.kind = ProductClass::linear, .rows = 1, .columns = columns, .depth = inner};
  NetworkTerms terms;
  terms.per_sample.flops[static_cast<std::size_t>(row.kind)] = row.flops(width == 2);
  terms.per_sample.bytes[static_cast<std::size_t>(Traffic::matrix)] = width * (inner + columns);
  terms.per_step.bytes[static_cast<std::size_t>(Traffic::weights)] = width * inner * columns;
  terms.per_step.tile = row.tile_flops();
  terms.per_step.launches = 1;
  return terms;
}

// Square products; the largest is the roof.
std::vector<KernelPoint> product_points(const KernelRequest& request, const Device& device) {
  const std::vector<std::int64_t> sizes = needs_large_work(device)
                                              ? std::vector<std::int64_t>{512, 1024, 2048, 4096, 8192}
                                              : std::vector<std::int64_t>{128, 256, 512, 1024, 2048};
  KernelPoints points(request);
  for (const Dtype dtype : request.dtypes) {
    for (const std::int64_t size : batches_or(request, sizes)) {
      const KernelPoints::Sizes square{{"inner", size}, {"columns", size}};
      const bool largest = request.batches.empty() && size == sizes.back();
      points.add("forward", dtype, size, square, {.is_reference = largest});
      points.add("forward", dtype, size, square, {.cold = true});
    }
  }
  return std::move(points).take();
}

constexpr Tolerances kProductTolerances{.fp32 = 1e-5, .tf32 = 3e-3, .fp16 = 3e-3, .bf16 = 1.5e-2};

const Registration<WorkloadType> BENCH_REGISTERED{operation_workload(OperationType<Linear>{
    .name = "gemm",
    .description = "matrix product; the batch is its number of rows",
    .modes = {"forward"},
    .options = declare(kInner, kColumns),
    .describe = read_product,
    .single = single_row<Linear>,
    .sample_bytes =
        [](const Linear& product) { return 4.0 * static_cast<double>(product.inner + product.columns); },
    .tolerance = [](const Linear& product) { return kProductTolerances.of(product.dtype); },
    .computed_otherwise =
        [](const Linear& product, const std::string& /*implementation*/, const Device& device) {
          return cuda::libraries_compute_otherwise(device, product.dtype);
        },
    .eager_terms = product_terms,
    .kernel_points = product_points})};

}  // namespace
}  // namespace bench::kernels
