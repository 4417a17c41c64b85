// Registers kernels/operations/loss_scale/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/loss_scale/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<FindOverflow>> find_registered{
    implementation<Gpu, FindOverflowOperation>()};
const Registration<Implementation<UpdateLossScale>> update_registered{
    implementation<Gpu, UpdateLossScaleOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
