// The kernels of bias.h, where a thread keeps its columns and reads their bias once.
//
// The number of blocks that sum does not depend on the device: the scratch is known without one, and the sums
// have the same bits on all.
#include <algorithm>
#include <stdexcept>

#include "kernels/backends/cuda/activations.cuh"
#include "kernels/backends/cuda/column_sums.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/tiling.cuh"
#include "kernels/operations/elementwise/bias.h"

namespace bench::kernels::cuda {

// dst = activate(dst + bias + residual) in place; bias and residual may be null. kWideBias: the bias is fp32
// whatever the element.
template <class Element, int kCount, bool kWideBias, class Activate>
struct EpilogueRows {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "epilogue";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  Stored* dst;
  const void* bias;
  const Stored* residual;
  Activate activate;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place<kCount>(thread);
    if (!place.inside) {
      return;
    }
    float shift[kCount] = {};
    if (bias != nullptr) {
      if constexpr (kWideBias) {
        load_floats<Memory>(static_cast<const float*>(bias) + place.channel, shift);
      } else {
        load_values<Element>(static_cast<const Stored*>(bias) + place.channel, shift);
      }
    }
    if (residual == nullptr) {
      const Stored* const in[] = {dst};
      apply(place, in, shift);
    } else {
      const Stored* const in[] = {dst, residual};
      apply(place, in, shift);
    }
  }

 private:
  template <int kInputs>
  BENCH_DEVICE void apply(const Tiling::Place& place, const Stored* const (&in)[kInputs],
                          const float (&shift)[kCount]) const {
    // A long function has its code once for all rows and channels.
    constexpr bool kRolled = kIsLong<Activate>;
    for_each_row<Element, kCount, kRolled ? 1 : Tiling::kUnroll>(
        tiling, place, in, [&](std::uint32_t row, auto& x) {
          for (int i = 0; i < kCount; ++i) {
            if constexpr (kInputs == 2) {
              x[0][i] += x[1][i];
            }
            x[0][i] += shift[i];
          }
          if constexpr (kRolled) {
            BENCH_ROLLED
            for (int i = 0; i < kCount; ++i) {
              const float next = next_of(x[0]);
              x[0][kCount - 1] = activate(next);
            }
          } else {
            for (int i = 0; i < kCount; ++i) {
              x[0][i] = activate(x[0][i]);
            }
          }
          store_values<Element>(dst + row * place.channels + place.channel, x[0]);
        });
  }
};

// to = from, rounded; one element a thread.
template <class Element>
struct Narrow {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "narrow";

  const float* from;
  typename Element::Stored* to;
  std::int64_t count;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t i = std::int64_t{thread.block()} * kThreads + thread.index();
    if (i < count) {
      to[i] = Element::from(from[i]);
    }
  }
};

// Enough to fill a device of 128 multiprocessors, few enough to be joined quickly.
inline constexpr std::int64_t kSummingBlocks = 512;

template <class Machine, class Queue>
void launch_epilogue(const Queue& queue, const Epilogue& what, void* dst, const void* bias,
                     const void* residual) {
  with_element<Machine>(what.dst.dtype, [&]<class Element>() {
    using Stored = typename Element::Stored;
    auto* const out = static_cast<Stored*>(dst);
    const auto* const added = static_cast<const Stored*>(residual);
    const auto launch = [&]<int kCount, bool kWideBias, class Activate>(const Activate& activate) {
      const Tiling tiling =
          Tiling::mapping(what.dst.rows, what.dst.columns / kCount, queue.multiprocessors());
      queue.launch(EpilogueRows<Element, kCount, kWideBias, Activate>{tiling, out, bias, added, activate},
                   tiling.blocks());
    };
    const auto activated = [&]<int kCount, bool kWideBias>() {
      with_activation(what.activation, [&]<class Activate>(const Activate& activate) {
        launch.template operator()<kCount, kWideBias>(activate);
      });
    };
    with_access<Element>(
        what.dst.columns,
        [&]<int kCount>() {
          if (what.wide_bias) {
            activated.template operator()<kCount, true>();
          } else {
            activated.template operator()<kCount, sizeof(Stored) == sizeof(float)>();
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
  with_element<Machine>(matrix.dtype, [&]<class Element>() {
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
  with_element<Machine>(dtype, [&]<class Element>() {
    queue.launch(Narrow<Element>{from, static_cast<typename Element::Stored*>(to), count},
                 blocks_for(count, Narrow<Element>::kThreads));
  });
}

template <class Machine>
struct BiasKernelsOn {
  using Queue = typename Machine::Queue;
  static BiasKernels entry() {
    return {
        .name = "cuda",
        .epilogue =
            [](const Card& card, const Epilogue& what, void* dst, const void* bias, const void* residual) {
              launch_epilogue<Machine>(Queue(card), what, dst, bias, residual);
            },
        .column_sums_scratch = column_sums_bytes,
        .column_sums =
            [](const Card& card, const Matrix& matrix, const void* values, float* sums, void* partial) {
              launch_column_sums<Machine>(Queue(card), matrix, values, sums, partial);
            },
        .narrow = [](const Card& card, const float* from, void* to, std::int64_t count,
                     Dtype dtype) { launch_narrow<Machine>(Queue(card), from, to, count, dtype); }};
  }
};

template struct OnGpu<BiasKernelsOn>;

}  // namespace bench::kernels::cuda
