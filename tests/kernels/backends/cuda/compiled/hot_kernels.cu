// The kernels that most of a network's time outside cuDNN goes to, in the form they take where sizes and
// addresses allow 16-byte accesses. compiled_test.sh looks at what the compiler makes of each line that
// begins with HOT_KERNEL, and for cards from sm_80 on HOT_KERNEL_FROM_80; bodies only, so that this compiles
// quickly.
//
// The three numbers count instructions on global memory: reads of 16 bytes at least, writes of 16 bytes at
// least, narrower reads at most. The first two are one for each operand, times what the source unrolls; of
// loops that the compiler unrolls as it likes, one pass. Narrower reads are: an operand's last elements, one
// at a time, in a loop that the compiler may unroll fourfold (5 an operand); the loss scale's two fields and
// the optimizer's count of steps; a number for each row (8 rows of ColumnSums, which has its loop twice, two
// of a row in LayerNormGradient; in CrossEntropyRows the label, its logit, the loss scale, and in two passes
// the elements around the row's accesses); the means and variances of 8 channels of GroupNormalizer; elements
// of other loops than a row in ReduceNest, eight of them ahead, in two loops for each of its functions;
// arrays that stay where they are in PointwiseSlopes; tokens and places of EmbeddingGradient; and the places
// of MaxPoolGradient, bytes that 16 bytes of the result come from, whose passes the compiler unrolls.
//
// A HOT_STREAM's fourth number limits what the card has to issue: thousandths of an instruction a byte, in
// the SASS of sm_90, of the loop with the most 16-byte accesses or, where no loop has any, of the whole
// kernel; narrower accesses count in kernels that have no wider ones. No branch may diverge in such a loop,
// and in a kernel without one as many as it has 16-byte writes, which threads after the last element leave
// out. HOT_PASSES, of kernels with several such loops one after the other, has a fifth number, which limits
// the worst of them. A fifth number of HOT_BRANCHES is how many branches may diverge: powers, divisions and
// loops of another length in each thread have some. In no loop of any kernel a function is chosen among
// many, by a branch to an address out of a table (BRX). What arithmetic limits is a HOT_KERNEL.
// The joins of chunks read 8 chunks before they need the first, twice in the source: 32 reads. An H200
// moves 4.8 TB/s and issues 4 instructions a clock on each of its 132 multiprocessors, 1.83 GHz: 200
// thousandths at best, and about half of that is reached.
#define BENCH_BODIES_ONLY
#include "kernels/backends/cuda/column_sums.cuh"
#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/elementwise.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/rectifier.cuh"
#include "kernels/operations/attention/square_softmax.cuh"
#include "kernels/operations/batch_norm/cuda.cu"
#include "kernels/operations/conv2d/implicit_gemm.cu"
#include "kernels/operations/cross_entropy/cuda.cu"
#include "kernels/operations/elementwise/bias.cu"
#include "kernels/operations/elementwise/cuda.cu"
#include "kernels/operations/embedding/cuda.cu"
#include "kernels/operations/fma/cuda.cu"
#include "kernels/operations/group_norm/cuda.cu"
#include "kernels/operations/layer_norm/cuda.cu"
#include "kernels/operations/loss_scale/cuda.cu"
#include "kernels/operations/optimizer/cuda.cu"
#include "kernels/operations/pointwise/cuda.cu"
#include "kernels/operations/pool/cuda.cu"
#include "kernels/operations/reduce/cuda.cu"
#include "kernels/operations/resize/cuda.cu"
#include "kernels/operations/softmax/cuda.cu"
#include "kernels/operations/stream/cuda.cu"

#define HOT_KERNEL(reads, writes, narrower, ...) \
  template __global__ void run_on_gpu(const __grid_constant__ __VA_ARGS__ kernel);
#define HOT_STREAM(reads, writes, narrower, instructions, ...) \
  HOT_KERNEL(reads, writes, narrower, __VA_ARGS__)
#define HOT_PASSES(reads, writes, narrower, instructions, of_a_pass, ...) \
  HOT_KERNEL(reads, writes, narrower, __VA_ARGS__)
#define HOT_BRANCHES(reads, writes, narrower, instructions, branches, ...) \
  HOT_KERNEL(reads, writes, narrower, __VA_ARGS__)
#if HOT_ARCHITECTURE >= 80
#define HOT_KERNEL_FROM_80(...) HOT_KERNEL(__VA_ARGS__)
#else
#define HOT_KERNEL_FROM_80(...)
#endif

namespace bench::kernels::cuda {

// The loops of PointwiseGradient for one function.
template <PointwiseFunction kFunction, int kIndex>
struct GradientOf {
  static constexpr bool kOfOne = false;
  NestPointers<GpuFp16> arrays;

  template <class Visit>
  BENCH_DEVICE void known(const Visit& visit) const {
    visit(PointwiseSlope<GpuFp16, kFunction, kIndex>{});
  }
};
template <int kIndex>
using Quotients = GradientOf<PointwiseFunction::divide, kIndex>;
template <int kIndex>
using Powers = GradientOf<PointwiseFunction::power, kIndex>;

using GeluErf = OneActivation<ActivationKind::gelu_erf>;
using Tanh = OneActivation<ActivationKind::tanh>;

HOT_STREAM(4, 4, 5, 80, ElementwiseKernel<GpuFp32, 1, 4, Activated<Relu, 1>>)
HOT_STREAM(4, 4, 5, 60, ElementwiseKernel<GpuFp16, 1, 4, Activated<Relu, 1>>)
HOT_STREAM(4, 4, 5, 60, ElementwiseKernel<GpuBf16, 1, 4, Activated<Relu, 1>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp32, 2, 4, ActivatedGradient<Relu, 1>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp16, 2, 4, ActivatedGradient<Relu, 1>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuBf16, 2, 4, ActivatedGradient<Relu, 1>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp32, 2, 4, Activated<Relu, 2>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp16, 2, 4, Activated<Relu, 2>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuBf16, 2, 4, Activated<Relu, 2>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp16, 2, 4, Activated<Relu6, 2>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp16, 2, 4, Activated<LeakyRelu, 2>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp16, 2, 4, ActivatedGradient<Relu6, 1>>)
HOT_STREAM(8, 4, 10, 60, ElementwiseKernel<GpuFp16, 2, 4, ActivatedGradient<LeakyRelu, 1>>)
HOT_STREAM(4, 4, 5, 100, ElementwiseKernel<GpuBf16, 1, 4, Activated<TanhGelu, 1>>)
HOT_STREAM(8, 4, 10, 100, ElementwiseKernel<GpuBf16, 2, 4, ActivatedGradient<TanhGelu, 1>>)
HOT_STREAM(8, 4, 0, 100, Normalize<GpuFp32, 4, Relu>)
HOT_STREAM(12, 4, 0, 100, Normalize<GpuFp16, 8, Relu>)
HOT_STREAM(12, 4, 0, 100, Normalize<GpuBf16, 8, Relu>)
HOT_STREAM(12, 4, 0, 100, Normalize<GpuFp16, 8, Relu6>)
HOT_STREAM(12, 4, 0, 100, Normalize<GpuFp16, 8, LeakyRelu>)
HOT_STREAM(9, 2, 0, 100, NormalizeGradient<GpuFp32, 4, ChannelNormalizer>)
HOT_STREAM(14, 2, 0, 100, NormalizeGradient<GpuFp16, 8, ChannelNormalizer>)
HOT_STREAM(18, 2, 0, 100, NormalizeGradient<GpuFp16, 8, Before<Relu>::Normalizer>)
HOT_STREAM(14, 2, 0, 100, NormalizeGradient<GpuBf16, 8, ChannelNormalizer>)
HOT_STREAM(13, 2, 0, 100, NormalizeGradient<GpuFp32, 4, Before<Relu>::Normalizer>)
HOT_STREAM(18, 2, 0, 100, NormalizeGradient<GpuBf16, 8, Before<Relu>::Normalizer>)
HOT_STREAM(18, 2, 0, 100, NormalizeGradient<GpuFp16, 8, Before<Relu6>::Normalizer>)
HOT_STREAM(18, 2, 0, 100, NormalizeGradient<GpuFp16, 8, Before<LeakyRelu>::Normalizer>)
HOT_STREAM(4, 2, 0, 100, ChunkMoments<GpuFp32, 4>)
HOT_STREAM(4, 4, 0, 100, ChunkMoments<GpuFp16, 8>)
HOT_STREAM(4, 4, 0, 100, ChunkMoments<GpuBf16, 8>)
HOT_STREAM(0, 0, 32, 100, JoinMoments)
HOT_STREAM(0, 0, 32, 60, FinishSums<2>)
HOT_STREAM(10, 2, 0, 110, ColumnSums<GpuFp32, 4, ChannelNormalizer>)
HOT_STREAM(12, 4, 0, 110, ColumnSums<GpuFp16, 8, ChannelNormalizer>)
HOT_STREAM(16, 4, 0, 110, ColumnSums<GpuFp16, 8, Before<Relu>::Normalizer>)
HOT_STREAM(12, 2, 0, 110, ColumnSums<GpuFp32, 4, Before<Relu>::Normalizer>)
HOT_STREAM(16, 4, 0, 110, ColumnSums<GpuBf16, 8, Before<Relu>::Normalizer>)
HOT_STREAM(8, 4, 16, 110, ColumnSums<GpuBf16, 8, RowNormalizer>)
HOT_STREAM(4, 2, 0, 110, ColumnSums<GpuFp16, 8, NoNormalizer>)
HOT_STREAM(5, 0, 0, 90, ChunkMoments<GpuFp16, 8, SectionTiling>)
HOT_STREAM(8, 4, 16, 70, ColumnSums<GpuFp16, 8, GroupNormalizer, SectionTiling>)
HOT_STREAM(5, 1, 0, 30, ForEachUnit<ScaleChannels<GpuFp16, 8, false>>)
HOT_STREAM(8, 1, 0, 30, ForEachUnit<ScaleChannels<GpuFp16, 8, true>>)
HOT_STREAM(9, 4, 0, 60, EpilogueRows<GpuFp32, 4, true, Relu>)
HOT_STREAM(10, 4, 0, 60, EpilogueRows<GpuFp16, 8, true, Relu>)
HOT_STREAM(9, 4, 0, 80, EpilogueRows<GpuBf16, 8, false, TanhGelu>)
HOT_STREAM(9, 4, 0, 70, EpilogueRows<GpuFp16, 8, false, OneActivation<ActivationKind::silu>>)
HOT_STREAM(9, 4, 0, 70, EpilogueRows<GpuFp16, 8, false, OneActivation<ActivationKind::hard_swish>>)
HOT_STREAM(9, 4, 0, 60, EpilogueRows<GpuFp16, 8, false, OneActivation<ActivationKind::sigmoid>>)
HOT_STREAM(9, 4, 0, 60, EpilogueRows<GpuFp16, 8, false, OneActivation<ActivationKind::hard_sigmoid>>)
HOT_STREAM(9, 4, 0, 90, EpilogueRows<GpuFp16, 8, false, Tanh>)
HOT_STREAM(9, 4, 0, 100, EpilogueRows<GpuFp16, 8, false, GeluErf>)
HOT_STREAM(4, 4, 5, 120, ElementwiseKernel<GpuFp16, 1, 4, Activated<Tanh, 1>>)
HOT_STREAM(4, 4, 5, 135, ElementwiseKernel<GpuFp16, 1, 4, Activated<GeluErf, 1>>)
HOT_STREAM(8, 4, 10, 125, ElementwiseKernel<GpuFp16, 2, 4, ActivatedGradient<GeluErf, 1>>)
HOT_BRANCHES(1, 1, 0, 95, 1, ForEachUnit<MaxPool<GpuFp32, 4, SlidingWindows, std::uint8_t, true>>)
HOT_BRANCHES(1, 1, 0, 140, 2, ForEachUnit<MaxPool<GpuFp16, 8, SlidingWindows, std::uint8_t, true>>)
HOT_BRANCHES(1, 1, 0, 125, 2, ForEachUnit<MaxPool<GpuBf16, 8, SlidingWindows, std::uint8_t, false>>)
HOT_BRANCHES(1, 1, 8, 85, 2, ForEachUnit<MaxPoolGradient<GpuFp32, 4, SlidingWindows, std::uint8_t>>)
HOT_BRANCHES(1, 1, 8, 180, 2, ForEachUnit<MaxPoolGradient<GpuFp16, 8, SlidingWindows, std::uint8_t>>)
HOT_BRANCHES(1, 1, 8, 180, 2, ForEachUnit<MaxPoolGradient<GpuBf16, 8, SlidingWindows, std::uint8_t>>)
HOT_BRANCHES(1, 1, 0, 20, 4, ForEachUnit<AveragePool<GpuFp32, 4, SlidingWindows>>)
HOT_BRANCHES(1, 1, 0, 60, 2, ForEachUnit<AveragePool<GpuFp16, 8, SlidingWindows>>)
HOT_BRANCHES(1, 1, 0, 150, 5, ForEachUnit<AveragePoolGradient<GpuBf16, 8, SlidingWindows>>)
HOT_STREAM(2, 1, 12, 20, OptimizerStep<GpuFp32, SgdRule>)
HOT_STREAM(3, 3, 12, 20, OptimizerStep<GpuFp16, SgdRule>)
HOT_STREAM(3, 2, 17, 20, OptimizerStep<GpuFp32, MomentumRule>)
HOT_STREAM(5, 5, 17, 20, OptimizerStep<GpuBf16, MomentumRule>)
HOT_BRANCHES(4, 3, 23, 50, 8, OptimizerStep<GpuFp32, AdamRule>)
HOT_BRANCHES(7, 7, 23, 50, 16, OptimizerStep<GpuFp16, AdamRule>)
HOT_BRANCHES(7, 7, 23, 50, 16, OptimizerStep<GpuBf16, AdamRule>)
HOT_BRANCHES(1, 0, 5, 80, 2, FindOverflowKernel<GpuFp16>)
HOT_STREAM(2, 1, 2, 190, PointwiseAccesses<GpuFp16, PointwiseFunction::multiply>)
HOT_STREAM(2, 1, 2, 190, PointwiseAccesses<GpuFp16, PointwiseFunction::divide>)
HOT_PASSES(32, 15, 32, 80, 90, PointwiseSlopes<GpuFp16, false, 8>)
HOT_PASSES(32, 15, 32, 60, 70, PointwiseSlopes<GpuFp32, false, 4>)
HOT_BRANCHES(6, 2, 6, 600, 16, PointwiseSlopes<GpuFp16, true, 8>)
HOT_STREAM(0, 0, 36, 350, PointwiseSlopes<GpuFp16, false, 1>)
HOT_BRANCHES(0, 0, 6, 850, 2, PointwiseSlopes<GpuFp16, true, 1>)
HOT_STREAM(0, 0, 362, 90, ReduceNest<GpuFp16, SideBySide<1>, NestJoin::sum, PointwiseGradient<GpuFp16>>)
HOT_STREAM(0, 0, 362, 90, ReduceNest<GpuFp16, Warps, NestJoin::sum, PointwiseGradient<GpuFp16>>)
HOT_STREAM(0, 0, 20, 90, ReduceNest<GpuFp16, SideBySide<1>, NestJoin::sum, Quotients<0>>)
HOT_STREAM(0, 0, 30, 95, ReduceNest<GpuFp16, Warps, NestJoin::sum, Quotients<1>>)
HOT_BRANCHES(0, 0, 9, 800, 2, ReduceNest<GpuFp16, SideBySide<1>, NestJoin::sum, Powers<0>>)
HOT_BRANCHES(0, 0, 9, 800, 2, ReduceNest<GpuFp16, Warps, NestJoin::sum, Powers<1>>)
HOT_STREAM(1, 0, 21, 80, ReduceNest<GpuFp16, SideBySide<32>, NestJoin::sum, ReducedValue<GpuFp16>>)
HOT_STREAM(0, 0, 20, 90, ReduceNest<GpuFp16, SideBySide<1>, NestJoin::sum, ReducedValue<GpuFp16>>)
HOT_STREAM(0, 0, 20, 90, ReduceNest<GpuFp16, Warps, NestJoin::sum, ReducedValue<GpuFp16>>)
HOT_STREAM(1, 0, 21, 100, ReduceNest<GpuFp16, SideBySide<256>, NestJoin::largest, ReducedValue<GpuFp16>>)
HOT_STREAM(1, 1, 1, 90, ReduceGradient<GpuFp16, false, 8>)
HOT_PASSES(8, 3, 9, 100, 100, ReduceGradient<GpuFp16, true, 8>)
HOT_STREAM(1, 1, 0, 100, ForEachUnit<ResizeMaps<GpuFp16, 8, Resize::Kind::nearest>>)
HOT_STREAM(4, 1, 0, 90, ForEachUnit<ResizeMaps<GpuFp16, 8, Resize::Kind::linear>>)
HOT_STREAM(16, 1, 0, 60, ForEachUnit<ResizeMaps<GpuFp16, 8, Resize::Kind::cubic>>)
HOT_STREAM(2, 1, 0, 60, ForEachUnit<ResizeGradient<GpuFp16, 8, Resize::Kind::nearest>>)
HOT_STREAM(2, 1, 0, 100, ForEachUnit<ResizeGradient<GpuFp16, 8, Resize::Kind::linear>>)
HOT_STREAM(2, 1, 0, 150, ForEachUnit<ResizeGradient<GpuFp16, 8, Resize::Kind::cubic>>)
HOT_PASSES(3, 1, 0, 60, 90, SoftmaxRows<GpuFp16, 8, 32, false>)
HOT_PASSES(4, 1, 0, 30, 40, SoftmaxRowsGradient<GpuFp16, 8, 32, false>)
HOT_BRANCHES(3, 1, 0, 50, 4, SquareSoftmax<GpuFp32, 4, 32>)
HOT_PASSES(6, 1, 0, 60, 70, SquareSoftmax<GpuFp16, 8, 32>)
HOT_PASSES(6, 1, 0, 40, 50, SquareSoftmaxGradient<GpuBf16, 8, 32>)
HOT_PASSES(2, 1, 5, 80, 170, CrossEntropyRows<GpuFp16, 32>)
HOT_PASSES(2, 1, 5, 80, 170, CrossEntropyRows<GpuFp16, 256>)
HOT_PASSES(7, 1, 0, 30, 60, LayerNormRows<GpuBf16, 8, 32>)
HOT_PASSES(8, 1, 2, 40, 50, LayerNormGradient<GpuBf16, 8, 32>)
HOT_BRANCHES(9, 1, 15, 65, 4, EmbeddingGradient<GpuFp32, 4>)
HOT_BRANCHES(4, 1, 10, 60, 4, EmbeddingPieces<GpuFp32, 4>)
HOT_BRANCHES(13, 1, 15, 50, 4, EmbeddingGradient<GpuFp16, 8>)
HOT_BRANCHES(4, 2, 10, 90, 4, EmbeddingPieces<GpuFp16, 8>)
HOT_STREAM(1, 1, 0, 110, ForEachUnit<CopyPixels<GpuMemory, 16>>)
HOT_STREAM(4, 4, 5, 70, ElementwiseKernel<GpuFp32, 1, 4, CopyFunction>)
HOT_STREAM(4, 4, 5, 80, ElementwiseKernel<GpuFp32, 1, 4, ScaleFunction>)
HOT_STREAM(8, 4, 10, 30, ElementwiseKernel<GpuFp32, 2, 4, SumFunction>)
HOT_STREAM(8, 4, 10, 40, ElementwiseKernel<GpuFp32, 2, 4, TriadFunction>)
HOT_STREAM(8, 4, 10, 50, ElementwiseKernel<GpuFp16, 2, 4, TriadFunction>)
HOT_STREAM(1, 0, 5, 30, SquareSums<GpuFp32, 4>)
HOT_BRANCHES(1, 0, 5, 60, 4, SquareSums<GpuBf16, 8>)
HOT_KERNEL(4, 4, 5, FmaChains<GpuFp32, 4>)
HOT_KERNEL(4, 4, 5, FmaChains<GpuFp16, 4>)
HOT_KERNEL(4, 4, 5, FmaChains<GpuBf16, 4>)
HOT_KERNEL(4, 16, 0, ImplicitGemm<GpuMemory, 128, 128, 8, 4>)
HOT_KERNEL(6, 16, 0, ImplicitGemm<GpuMemory, 128, 64, 8, 4>)
HOT_KERNEL(4, 4, 0, ImplicitGemm<GpuMemory, 64, 64, 16, 4>)
HOT_KERNEL(8, 8, 0, ImplicitGemmTiles<GpuFp16, GpuTiles<GpuFp16>, 128, 8>)
HOT_KERNEL(6, 4, 0, ImplicitGemmTiles<GpuFp16, GpuTiles<GpuFp16>, 64, 8>)
HOT_KERNEL(4, 4, 0, FmaTiles<GpuFp16, GpuTiles<GpuFp16>, 8>)
HOT_KERNEL_FROM_80(4, 4, 0, FmaTiles<GpuBf16, GpuTiles<GpuBf16>, 8>)

}  // namespace bench::kernels::cuda
