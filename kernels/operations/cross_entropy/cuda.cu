// Registers kernels/operations/cross_entropy/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/cross_entropy/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<CrossEntropy>> registered{implementation<Gpu, CrossEntropyOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
