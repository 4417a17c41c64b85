// Registers kernels/operations/preprocess/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/preprocess/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Preprocess>> registered{implementation<Gpu, PreprocessOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
