// Registers cuBLASLt for products of matrices side by side.
#include "kernels/operations/batched_matmul/cublaslt.h"

namespace bench::kernels {
namespace {

const Registration<Implementation<BatchedMatmul>> BENCH_REGISTERED{{
    .name = "cublaslt",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported = [](const BatchedMatmul& spec, const Device& device) -> std::optional<std::string> {
      if (auto wrong = spec.invalid()) {
        return wrong;
      }
      return cublaslt::unsupported(spec.dtype, device, [&] {
        const cublaslt::TunedProduct planned(cublaslt::BatchedCalls(spec).product, device);
      });
    },
    .make = [](const BatchedMatmul& spec, Device& device) -> std::unique_ptr<Operation> {
      return std::make_unique<cublaslt::BatchedMatmulOperation<cublaslt::TunedProduct>>(spec, device);
    },
}};

}  // namespace
}  // namespace bench::kernels
