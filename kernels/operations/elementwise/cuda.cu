// Registers kernels/operations/elementwise/cuda.cuh for CUDA devices, with the functions of bias.h.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/operations/elementwise/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

const Registration<Implementation<Elementwise>> registered{implementation<Gpu, ElementwiseOperation>()};
const Registration<BiasKernels> registered_bias{
    {.name = "cuda",
     .finish =
         [](CUstream_st* stream, const Finish& what, void* dst, const void* bias, const void* residual) {
           launch_finish<Gpu>(StreamQueue(stream), what, dst, bias, residual);
         },
     .column_sums_scratch = [](const Matrix& matrix) { return column_sums_bytes(matrix); },
     .column_sums =
         [](CUstream_st* stream, const Matrix& matrix, const void* values, float* sums, void* partial) {
           launch_column_sums<Gpu>(StreamQueue(stream), matrix, values, sums, partial);
         },
     .narrow = [](CUstream_st* stream, const float* from, void* to, std::int64_t count,
                  Dtype dtype) { launch_narrow<Gpu>(StreamQueue(stream), from, to, count, dtype); }}};

}  // namespace
}  // namespace bench::kernels::cuda
