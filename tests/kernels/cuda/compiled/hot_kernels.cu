// The kernels that most of a network's time outside cuDNN goes to, in the form they take where sizes and
// addresses allow 16-byte accesses. compiled_test.sh looks at what the compiler makes of each line that
// begins with HOT_KERNEL or, where next to nothing is written, HOT_READER, and for cards from sm_80 on
// HOT_KERNEL_FROM_80; bodies only, so that this compiles quickly.
#include "kernels/cuda/gpu.cuh"
// gpu.cuh first
#include "kernels/cuda/gpu_tiles.cuh"
// then the bodies
#include "kernels/add/add.cuh"
#include "kernels/attention/causal_softmax.cuh"
#include "kernels/batch_norm/batch_norm.cuh"
#include "kernels/batch_norm/statistics.cuh"
#include "kernels/bias/bias.cuh"
#include "kernels/conv2d/implicit_gemm.cuh"
#include "kernels/conv2d/implicit_gemm_tiles.cuh"
#include "kernels/cross_entropy/cross_entropy.cuh"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/copy_pixels.cuh"
#include "kernels/cuda/flat.cuh"
#include "kernels/cuda/rectifier.cuh"
#include "kernels/fma/fma.cuh"
#include "kernels/fma/fma_tiles.cuh"
#include "kernels/gelu/gelu.cuh"
#include "kernels/layer_norm/layer_norm.cuh"
#include "kernels/loss_scale/loss_scale.cuh"
#include "kernels/optimizer/optimizer.cuh"
#include "kernels/pool/average.cuh"
#include "kernels/pool/maximum.cuh"
#include "kernels/relu/relu.cuh"
#include "kernels/softmax/softmax.cuh"
#include "kernels/stream/stream.cuh"

#define HOT_KERNEL(...) template __global__ void run_on_gpu(const __grid_constant__ __VA_ARGS__ kernel);
#define HOT_READER(...) HOT_KERNEL(__VA_ARGS__)
#if HOT_ARCHITECTURE >= 80
#define HOT_KERNEL_FROM_80(...) HOT_KERNEL(__VA_ARGS__)
#else
#define HOT_KERNEL_FROM_80(...)
#endif

namespace bench::kernels::cuda {

HOT_KERNEL(Flat<GpuFp32, 1, 4, RectifyFunction>)
HOT_KERNEL(Flat<GpuFp16, 1, 4, RectifyFunction>)
HOT_KERNEL(Flat<GpuBf16, 1, 4, RectifyFunction>)
HOT_KERNEL(Flat<GpuFp32, 2, 4, RectifyGradient>)
HOT_KERNEL(Flat<GpuFp16, 2, 4, RectifyGradient>)
HOT_KERNEL(Flat<GpuBf16, 2, 4, RectifyGradient>)
HOT_KERNEL(Flat<GpuFp32, 2, 4, AddFunction<Rectifier>>)
HOT_KERNEL(Flat<GpuFp16, 2, 4, AddFunction<Rectifier>>)
HOT_KERNEL(Flat<GpuBf16, 2, 4, AddFunction<Rectifier>>)
HOT_KERNEL(Flat<GpuBf16, 1, 4, GeluFunction>)
HOT_KERNEL(Flat<GpuBf16, 2, 4, GeluGradient>)
HOT_KERNEL(Normalize<GpuFp32, 4>)
HOT_KERNEL(Normalize<GpuFp16, 8>)
HOT_KERNEL(Normalize<GpuBf16, 8>)
HOT_KERNEL(NormalizeGradient<GpuFp32, 4>)
HOT_KERNEL(NormalizeGradient<GpuFp16, 8>)
HOT_KERNEL(NormalizeGradient<GpuBf16, 8>)
HOT_KERNEL(ChunkMoments<GpuFp32, 4>)
HOT_KERNEL(ChunkMoments<GpuFp16, 8>)
HOT_KERNEL(ChunkMoments<GpuBf16, 8>)
HOT_KERNEL(ColumnSums<GpuFp32, 4, ChannelNormalizer>)
HOT_KERNEL(ColumnSums<GpuFp16, 8, ChannelNormalizer>)
HOT_KERNEL(ColumnSums<GpuBf16, 8, RowNormalizer>)
HOT_KERNEL(ColumnSums<GpuFp16, 8, NoNormalizer>)
HOT_KERNEL(FinishRows<GpuFp32, 4, false, Rectifier>)
HOT_KERNEL(FinishRows<GpuFp16, 8, true, Rectifier>)
HOT_KERNEL(FinishRows<GpuBf16, 8, false, TanhGelu>)
HOT_KERNEL(MaxPool<GpuFp32, 4, std::uint8_t, true>)
HOT_KERNEL(MaxPool<GpuFp16, 8, std::uint8_t, true>)
HOT_KERNEL(MaxPool<GpuBf16, 8, std::uint8_t, false>)
HOT_KERNEL(MaxPoolGradient<GpuFp32, 4, std::uint8_t>)
HOT_KERNEL(MaxPoolGradient<GpuFp16, 8, std::uint8_t>)
HOT_KERNEL(MaxPoolGradient<GpuBf16, 8, std::uint8_t>)
HOT_KERNEL(AveragePool<GpuFp32, 4, SlidingWindows>)
HOT_KERNEL(AveragePool<GpuFp16, 8, SlidingWindows>)
HOT_KERNEL(AveragePoolGradient<GpuBf16, 8, SlidingWindows>)
HOT_KERNEL(OptimizerStep<GpuFp32, SgdRule>)
HOT_KERNEL(OptimizerStep<GpuFp16, SgdRule>)
HOT_KERNEL(OptimizerStep<GpuFp32, MomentumRule>)
HOT_KERNEL(OptimizerStep<GpuBf16, MomentumRule>)
HOT_KERNEL(OptimizerStep<GpuFp32, AdamRule>)
HOT_KERNEL(OptimizerStep<GpuFp16, AdamRule>)
HOT_KERNEL(OptimizerStep<GpuBf16, AdamRule>)
HOT_READER(FindOverflowKernel<GpuFp16>)
HOT_KERNEL(SoftmaxRows<GpuFp16, 8, 32>)
HOT_KERNEL(CausalSoftmax<GpuFp32, 4, 32>)
HOT_KERNEL(CausalSoftmax<GpuFp16, 8, 32>)
HOT_KERNEL(CausalSoftmaxGradient<GpuBf16, 8, 32>)
HOT_KERNEL(CrossEntropyRows<GpuFp16, 8, 32>)
HOT_KERNEL(LayerNormRows<GpuBf16, 8, 32>)
HOT_KERNEL(LayerNormGradient<GpuBf16, 8, 32>)
HOT_KERNEL(CopyPixels<GpuMemory, 16>)
HOT_KERNEL(Flat<GpuFp32, 1, 4, CopyFunction>)
HOT_KERNEL(Flat<GpuFp32, 1, 4, ScaleFunction>)
HOT_KERNEL(Flat<GpuFp32, 2, 4, SumFunction>)
HOT_KERNEL(Flat<GpuFp32, 2, 4, TriadFunction>)
HOT_KERNEL(Flat<GpuFp16, 2, 4, TriadFunction>)
HOT_READER(SquareSums<GpuFp32, 4>)
HOT_READER(SquareSums<GpuBf16, 8>)
HOT_KERNEL(FmaChains<GpuFp32, 4>)
HOT_KERNEL(FmaChains<GpuFp16, 4>)
HOT_KERNEL(FmaChains<GpuBf16, 4>)
HOT_KERNEL(ImplicitGemm<GpuMemory, 128, 128, 8, 4>)
HOT_KERNEL(ImplicitGemm<GpuMemory, 128, 64, 8, 4>)
HOT_KERNEL(ImplicitGemm<GpuMemory, 64, 64, 16, 4>)
HOT_KERNEL(ImplicitGemmTiles<GpuFp16, GpuTiles<GpuFp16>, 128, 8>)
HOT_KERNEL(ImplicitGemmTiles<GpuFp16, GpuTiles<GpuFp16>, 64, 8>)
HOT_KERNEL(FmaTiles<GpuFp16, GpuTiles<GpuFp16>, 8>)
HOT_KERNEL_FROM_80(FmaTiles<GpuBf16, GpuTiles<GpuBf16>, 8>)

}  // namespace bench::kernels::cuda
