// Registers kernels/operations/upsample/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/upsample/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Upsample>> registered{implementation<Gpu, UpsampleOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
