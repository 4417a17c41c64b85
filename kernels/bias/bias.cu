#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/bias/bias.h"
#include "kernels/device/cuda/stream.h"

namespace bench::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 16;

__device__ float wide(float value) {
  return value;
}
__device__ float wide(__half value) {
  return __half2float(value);
}
__device__ float wide(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

template <class T>
__device__ T narrowed(float value);
template <>
__device__ float narrowed<float>(float value) {
  return value;
}
template <>
__device__ __half narrowed<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __nv_bfloat16 narrowed<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

// As apply() of kernels/activation.h: a NaN stays one. All threads take the same branch.
__device__ float activated(Activation activation, float value) {
  switch (activation) {
    case Activation::none:
      return value;
    case Activation::relu:
      return value < 0.0F ? 0.0F : value;
    case Activation::relu6:
      return value < 0.0F ? 0.0F : value > 6.0F ? 6.0F : value;
    case Activation::leaky_relu:
      return value < 0.0F ? kLeakySlope * value : value;
    case Activation::gelu: {
      const float inner = 0.7978845608F * (value + 0.044715F * value * value * value);  // √(2/π)
      return 0.5F * value * (1.0F + tanhf(inner));
    }
  }
  return value;
}

// As many neighbours as one 16-byte access moves, or 1 where a row is no multiple of that.
template <class T, int kLanes>
struct alignas(sizeof(T) * kLanes) Pack {
  T lane[kLanes];
};

template <class T, class Bias, int kLanes>
__global__ void __launch_bounds__(kThreads)
    finish_kernel(T* dst, const Bias* __restrict__ bias, const T* residual, std::int64_t packs,
                  std::int64_t packs_in_row, Activation activation) {
  using Values = Pack<T, kLanes>;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < packs;
       i += step) {
    Values values = reinterpret_cast<const Values*>(dst)[i];
    Values added{};
    if (residual != nullptr) {
      added = reinterpret_cast<const Values*>(residual)[i];
    }
    const std::int64_t column = i % packs_in_row * kLanes;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      float value = wide(values.lane[lane]);
      if (residual != nullptr) {
        value += wide(added.lane[lane]);
      }
      if (bias != nullptr) {
        value += wide(bias[column + lane]);
      }
      values.lane[lane] = narrowed<T>(activated(activation, value));
    }
    reinterpret_cast<Values*>(dst)[i] = values;
  }
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + kThreads - 1) / kThreads, 1, kMostBlocks));
}

template <class T, class Bias, int kLanes>
void finish_packs(CUstream_st* stream, const Finish& what, void* dst, const void* bias,
                  const void* residual) {
  const std::int64_t packs_in_row = what.dst.columns / kLanes;
  const std::int64_t packs = what.dst.rows * packs_in_row;
  finish_kernel<T, Bias, kLanes><<<blocks_for(packs), kThreads, 0, stream>>>(
      static_cast<T*>(dst), static_cast<const Bias*>(bias), static_cast<const T*>(residual), packs,
      packs_in_row, what.activation);
  check_launch("finish");
}

template <class T, class Bias>
void finish_as(CUstream_st* stream, const Finish& what, void* dst, const void* bias, const void* residual) {
  constexpr int kLanes = 16 / sizeof(T);
  if (what.dst.columns % kLanes == 0) {
    finish_packs<T, Bias, kLanes>(stream, what, dst, bias, residual);
  } else {
    finish_packs<T, Bias, 1>(stream, what, dst, bias, residual);
  }
}

constexpr int kSumColumns = 32;    // of a block: a warp reads 32 neighbours
constexpr int kSumRows = 8;        // that a block reads at once
constexpr int kRowsOfPart = 1024;  // about, before the parts are too many
constexpr std::int64_t kMostParts = 256;

std::int64_t parts_of(const Matrix& matrix) {
  return std::clamp<std::int64_t>(matrix.rows / kRowsOfPart, 1, kMostParts);
}

// sums[part][column] of the rows first, first + step, … of each thread row, then over the block's thread
// rows.
template <class T>
__global__ void __launch_bounds__(kSumColumns* kSumRows)
    column_sums_kernel(const T* __restrict__ values, float* __restrict__ sums, std::int64_t rows,
                       std::int64_t columns) {
  __shared__ float partial[kSumRows][kSumColumns];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kSumColumns + threadIdx.x;
  float sum = 0.0F;
  if (column < columns) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * kSumRows;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * kSumRows + threadIdx.y; row < rows;
         row += step) {
      sum += wide(values[row * columns + column]);
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    float total = 0.0F;
#pragma unroll
    for (int i = 0; i < kSumRows; ++i) {
      total += partial[i][threadIdx.x];
    }
    sums[blockIdx.y * columns + column] = total;
  }
}

template <class T>
void sum_columns(CUstream_st* stream, const T* values, float* sums, std::int64_t rows, std::int64_t columns,
                 std::int64_t parts) {
  const dim3 grid(static_cast<unsigned>((columns + kSumColumns - 1) / kSumColumns),
                  static_cast<unsigned>(parts));
  column_sums_kernel<T><<<grid, dim3(kSumColumns, kSumRows), 0, stream>>>(values, sums, rows, columns);
  check_launch("column_sums");
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    narrow_kernel(const float* __restrict__ from, T* __restrict__ to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) {
    to[i] = narrowed<T>(from[i]);
  }
}

}  // namespace

void finish(CUstream_st* stream, const Finish& what, void* dst, const void* bias, const void* residual) {
  switch (what.dst.dtype) {
    case Dtype::fp32:
    case Dtype::tf32:
      return finish_as<float, float>(stream, what, dst, bias, residual);
    case Dtype::fp16:
      return what.wide_bias ? finish_as<__half, float>(stream, what, dst, bias, residual)
                            : finish_as<__half, __half>(stream, what, dst, bias, residual);
    case Dtype::bf16:
      return what.wide_bias ? finish_as<__nv_bfloat16, float>(stream, what, dst, bias, residual)
                            : finish_as<__nv_bfloat16, __nv_bfloat16>(stream, what, dst, bias, residual);
  }
}

std::int64_t column_sums_scratch(const Matrix& matrix) {
  const std::int64_t parts = parts_of(matrix);
  return parts == 1 ? 0 : parts * matrix.columns * static_cast<std::int64_t>(sizeof(float));
}

void column_sums(CUstream_st* stream, const Matrix& matrix, const void* values, float* sums, void* partial) {
  const std::int64_t parts = parts_of(matrix);
  float* const first = parts == 1 ? sums : static_cast<float*>(partial);
  switch (matrix.dtype) {
    case Dtype::fp32:
    case Dtype::tf32:
      sum_columns(stream, static_cast<const float*>(values), first, matrix.rows, matrix.columns, parts);
      break;
    case Dtype::fp16:
      sum_columns(stream, static_cast<const __half*>(values), first, matrix.rows, matrix.columns, parts);
      break;
    case Dtype::bf16:
      sum_columns(stream, static_cast<const __nv_bfloat16*>(values), first, matrix.rows, matrix.columns,
                  parts);
      break;
  }
  if (parts > 1) {
    sum_columns(stream, first, sums, parts, matrix.columns, 1);
  }
}

void narrow(CUstream_st* stream, const float* from, void* to, std::int64_t count, Dtype dtype) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  if (dtype == Dtype::fp16) {
    narrow_kernel<<<blocks, kThreads, 0, stream>>>(from, static_cast<__half*>(to), count);
  } else if (dtype == Dtype::bf16) {
    narrow_kernel<<<blocks, kThreads, 0, stream>>>(from, static_cast<__nv_bfloat16*>(to), count);
  } else {
    throw std::logic_error("narrow() makes fp16 or bf16, not fp32");
  }
  check_launch("narrow");
}

}  // namespace bench::kernels::cuda
