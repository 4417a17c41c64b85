// Registers kernels/layer_norm/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/layer_norm/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<LayerNorm>> registered{implementation<Gpu, LayerNormOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
