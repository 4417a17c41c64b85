// Registers kernels/operations/launch/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/launch/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<RoundTrip>> registered{implementation<Gpu, RoundTripOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
