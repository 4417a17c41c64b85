// Registers kernels/fma/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/cuda/gpu_tiles.cuh"
// the tiles before the launches
#include "kernels/fma/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Fma>> registered{implementation<Gpu, FmaOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
