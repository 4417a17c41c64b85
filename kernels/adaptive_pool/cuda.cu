// Registers kernels/adaptive_pool/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/adaptive_pool/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<AdaptivePool>> registered{implementation<Gpu, AdaptivePoolOperation>()};
const Registration<Implementation<AdaptivePoolBackward>> registered_backward{
    implementation<Gpu, AdaptivePoolBackwardOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
