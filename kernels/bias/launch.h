// kernels/bias/bias.h as launches on a machine's queue.
//
// Into how many blocks a matrix is cut does not depend on the device: the scratch is known without one, and
// the sums are the same bits on all.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "kernels/bias/bias.cuh"
#include "kernels/bias/bias.h"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/kernel_operation.h"
#include "kernels/cuda/rectifier.cuh"

namespace bench::kernels::cuda {

// Enough to fill a device of 128 multiprocessors, few enough to be joined quickly.
inline constexpr std::int64_t kSummingBlocks = 512;
inline constexpr std::int64_t kFinishingBlocks = 4096;

template <class Machine, class Queue>
void launch_finish(const Queue& queue, const Finish& what, void* dst, const void* bias,
                   const void* residual) {
  with_element_of<Machine>(what.dst.dtype, [&]<class Element>() {
    using Stored = typename Element::Stored;
    auto* const out = static_cast<Stored*>(dst);
    const auto* const added = static_cast<const Stored*>(residual);
    const auto launch = [&]<int kCount, bool kWideBias, class Activate>(const Activate& activate) {
      const Tiling tiling = Tiling::of(what.dst.rows, what.dst.columns / kCount, kFinishingBlocks);
      queue.launch(FinishRows<Element, kCount, kWideBias, Activate>{tiling, out, bias, added, activate},
                   tiling.blocks());
    };
    const auto activated = [&]<int kCount, bool kWideBias>() {
      if (what.activation == Activation::gelu) {
        launch.template operator()<kCount, kWideBias>(TanhGelu{});
      } else {
        launch.template operator()<kCount, kWideBias>(Rectifier::of(what.activation));
      }
    };
    with_access<Element>(
        what.dst.columns,
        [&]<int kCount>() {
          if (what.wide_bias) {
            activated.template operator()<kCount, true>();
          } else {
            activated.template operator()<kCount, false>();
          }
        },
        out, static_cast<const std::byte*>(bias), added);
  });
}

// Bytes of fp32 sums of each chunk, by whichever access; 0 where one chunk takes all rows.
inline std::int64_t column_sums_bytes(const Matrix& matrix) {
  const std::int64_t lanes = kAccess / bytes_of(matrix.dtype);
  std::uint32_t chunks = Tiling::of(matrix.rows, matrix.columns, kSummingBlocks).chunks;
  if (matrix.columns % lanes == 0) {
    chunks = std::max(chunks, Tiling::of(matrix.rows, matrix.columns / lanes, kSummingBlocks).chunks);
  }
  return chunks == 1 ? 0 : chunks * matrix.columns * static_cast<std::int64_t>(sizeof(float));
}

template <class Machine, class Queue>
void launch_column_sums(const Queue& queue, const Matrix& matrix, const void* values, float* sums,
                        void* partial) {
  with_element_of<Machine>(matrix.dtype, [&]<class Element>() {
    const auto* const from = static_cast<const typename Element::Stored*>(values);
    auto* const parts = static_cast<float*>(partial);
    with_access<Element>(
        matrix.columns,
        [&]<int kCount>() {
          const Tiling tiling = Tiling::of(matrix.rows, matrix.columns / kCount, kSummingBlocks);
          queue.launch(
              ColumnSums<Element, kCount, NoNormalizer>{
                  tiling, nullptr, from, {}, tiling.chunks == 1 ? sums : parts},
              tiling.blocks());
          if (tiling.chunks > 1) {
            queue.launch(FinishSums<1>{parts, matrix.columns, tiling.chunks, {sums}},
                         FinishSums<1>::blocks(matrix.columns));
          }
        },
        from, sums, parts);
  });
}

template <class Machine, class Queue>
void launch_narrow(const Queue& queue, const float* from, void* to, std::int64_t count, Dtype dtype) {
  if (bytes_of(dtype) == bytes_of(Dtype::fp32)) {
    throw std::logic_error("narrow() makes fp16 or bf16, not fp32");
  }
  with_element_of<Machine>(dtype, [&]<class Element>() {
    queue.launch(Narrow<Element>{from, static_cast<typename Element::Stored*>(to), count},
                 blocks_for(count, Narrow<Element>::kThreads));
  });
}

}  // namespace bench::kernels::cuda
