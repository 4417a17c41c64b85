// Registers kernels/add/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/add/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Add>> registered{implementation<Gpu, AddOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
