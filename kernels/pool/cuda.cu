// Registers kernels/pool/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/pool/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Pool>> registered{implementation<Gpu, PoolOperation>()};
const Registration<Implementation<PoolBackward>> registered_backward{
    implementation<Gpu, PoolBackwardOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
