// Registers kernels/operations/embedding/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/embedding/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Embedding>> registered{implementation<Gpu, EmbeddingOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
