// Registers kernels/operations/batch_norm/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/batch_norm/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<BatchNorm>> registered{implementation<Gpu, BatchNormOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
