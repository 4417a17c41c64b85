// Registers kernels/embedding/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/embedding/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Embedding>> registered{implementation<Gpu, EmbeddingOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
