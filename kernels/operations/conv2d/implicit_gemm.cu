// Registers kernels/operations/conv2d/implicit_gemm.cuh for CUDA devices, to be found by its name only.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/backends/cuda/gpu_tiles.cuh"
// the tiles before the launches
#include "kernels/operations/conv2d/implicit_gemm.cuh"

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
