// Registers kernels/relu/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/relu/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Relu>> registered{implementation<Gpu, ReluOperation>()};
const Registration<Implementation<ReluBackward>> registered_backward{
    implementation<Gpu, ReluBackwardOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
