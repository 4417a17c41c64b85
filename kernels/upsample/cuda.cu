// Registers kernels/upsample/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/upsample/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Upsample>> registered{implementation<Gpu, UpsampleOperation>()};
const Registration<Implementation<UpsampleBackward>> registered_backward{
    implementation<Gpu, UpsampleBackwardOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
