// Registers kernels/operations/concat/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/concat/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Concat>> registered{implementation<Gpu, ConcatOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
