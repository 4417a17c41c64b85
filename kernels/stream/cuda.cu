// Registers kernels/stream/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/stream/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Stream>> registered{implementation<Gpu, StreamOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
