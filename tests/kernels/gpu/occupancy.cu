#define BENCH_BODIES_ONLY
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/operations/batch_norm/cuda.cu"
#include "kernels/operations/layer_norm/cuda.cu"
#include "kernels/operations/stream/cuda.cu"
#include "occupancy.h"

namespace bench::kernels::testing {
namespace {

template <class Kernel>
void add(std::vector<Occupancy>& all, int compute_capability) {
  int found = 0;
  cuda::check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, cuda::run_on_gpu<Kernel>, Kernel::kThreads, 0),
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  all.push_back({.kernel = Kernel::kName,
                 .counted = cuda::resident_blocks<Kernel>(compute_capability),
                 .found = found});
}

template <class Element, int kCount>
void add_reductions(std::vector<Occupancy>& all, int compute_capability) {
  add<cuda::SquareSums<Element, kCount>>(all, compute_capability);
  add<cuda::ChunkMoments<Element, kCount>>(all, compute_capability);
  add<cuda::ColumnSums<Element, kCount, cuda::ChannelNormalizer>>(all, compute_capability);
  add<cuda::ColumnSums<Element, kCount, cuda::RowNormalizer>>(all, compute_capability);
}

}  // namespace

std::vector<Occupancy> occupancies(int compute_capability) {
  std::vector<Occupancy> all;
  add_reductions<cuda::GpuFp32, 1>(all, compute_capability);
  add_reductions<cuda::GpuFp32, 4>(all, compute_capability);
  add_reductions<cuda::GpuFp16, 8>(all, compute_capability);
  return all;
}

}  // namespace bench::kernels::testing
