// Registers kernels/operations/layer_norm/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/layer_norm/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<LayerNorm>> registered{implementation<Gpu, LayerNormOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
