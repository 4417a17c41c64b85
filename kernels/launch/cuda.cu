// Registers kernels/launch/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/launch/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<RoundTrip>> registered{implementation<Gpu, RoundTripOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
