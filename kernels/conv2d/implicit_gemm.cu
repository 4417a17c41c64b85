// Registers kernels/conv2d/implicit_gemm_launch.h for CUDA devices, to be found by its name only.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/cuda/gpu_tiles.cuh"
// the tiles before the launches
#include "kernels/conv2d/implicit_gemm_launch.h"

namespace bench::kernels::cuda {
namespace {

Implementation<Conv2d> by_name() {
  auto made = implementation<Gpu, ImplicitGemmOperation>();
  made.name = "implicit_gemm";
  made.preference = -1;
  return made;
}

const Registration<Implementation<Conv2d>> registered{by_name()};

}  // namespace
}  // namespace bench::kernels::cuda
