// Registers kernels/loss_scale/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/loss_scale/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<FindOverflow>> find_registered{
    implementation<Gpu, FindOverflowOperation>()};
const Registration<Implementation<UpdateLossScale>> update_registered{
    implementation<Gpu, UpdateLossScaleOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
