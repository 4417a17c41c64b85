// Registers kernels/softmax/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/softmax/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Softmax>> registered{implementation<Gpu, SoftmaxOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
