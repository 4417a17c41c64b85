// Registers kernels/preprocess/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/preprocess/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Preprocess>> registered{implementation<Gpu, PreprocessOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
