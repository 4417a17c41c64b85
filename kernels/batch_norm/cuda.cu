// Registers kernels/batch_norm/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/batch_norm/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<BatchNorm>> registered{implementation<Gpu, BatchNormOperation>()};
const Registration<Implementation<BatchNormBackward>> registered_backward{
    implementation<Gpu, BatchNormBackwardOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
