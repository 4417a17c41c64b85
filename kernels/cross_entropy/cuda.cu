// Registers kernels/cross_entropy/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/cross_entropy/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<CrossEntropy>> registered{implementation<Gpu, CrossEntropyOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
