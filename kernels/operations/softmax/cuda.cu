// Registers kernels/operations/softmax/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/softmax/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Softmax>> registered{implementation<Gpu, SoftmaxOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
