// Registers kernels/rows/launch.h for CUDA devices.
#include "kernels/cuda/gpu_queue.cuh"
// gpu_queue.cuh first
#include "kernels/rows/launch.h"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Rows>> registered{implementation<Gpu, RowsOperation>()};
const Registration<Implementation<RowsBackward>> registered_backward{
    implementation<Gpu, RowsBackwardOperation>()};

}  // namespace
}  // namespace bench::kernels::cuda
