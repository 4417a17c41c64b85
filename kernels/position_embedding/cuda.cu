// Registers kernels/position_embedding/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/position_embedding/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<PositionEmbedding>> registered{
    implementation<Gpu, PositionEmbeddingOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
