// Registers kernels/gelu/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/gelu/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Gelu>> registered{implementation<Gpu, GeluOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
