// Registers kernels/concat/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/concat/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Concat>> registered{implementation<Gpu, ConcatOperation>()};
const Registration<Implementation<ConcatBackward>> registered_backward{
    implementation<Gpu, ConcatBackwardOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
