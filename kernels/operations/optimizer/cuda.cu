// Registers kernels/operations/optimizer/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/optimizer/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Optimizer>> registered{implementation<Gpu, OptimizerOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
