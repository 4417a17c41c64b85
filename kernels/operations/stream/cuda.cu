// Registers kernels/operations/stream/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/stream/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Stream>> registered{implementation<Gpu, StreamOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
