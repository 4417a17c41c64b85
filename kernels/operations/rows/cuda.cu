// Registers kernels/operations/rows/cuda.cuh for CUDA devices.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/rows/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Rows>> registered{implementation<Gpu, RowsOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
