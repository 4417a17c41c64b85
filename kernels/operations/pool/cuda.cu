// Registers kernels/operations/pool/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/pool/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Pool>> registered{implementation<Gpu, PoolOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
