// Registers kernels/operations/fma/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/backends/cuda/gpu_tiles.cuh"
// the tiles before the launches
#include "kernels/operations/fma/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Fma>> registered{implementation<Gpu, FmaOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
