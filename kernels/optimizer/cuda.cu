// Registers kernels/optimizer/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/optimizer/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Optimizer>> registered{implementation<Gpu, OptimizerOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
