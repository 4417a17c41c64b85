// Elementwise formulas as our own kernels, in any layout: channel padding is zero, and its result is zero
// too. Then the kernels of bias.h, where a thread keeps its columns and reads their bias once.
//
// The number of blocks for bias.h's matrices does not depend on the device: the scratch is known without one,
// and the sums have the same bits on all.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "kernels/backends/cuda/column_sums.cuh"
#include "kernels/backends/cuda/elementwise.cuh"
#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/rectifier.cuh"
#include "kernels/backends/cuda/tiling.cuh"
#include "kernels/operations/elementwise/bias.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels::cuda {

// act(x0 [+ x1])
template <class Activate, int kSummands>
struct Activated {
  Activate activate;
  BENCH_DEVICE float operator()(const float (&x)[kSummands]) const {
    if constexpr (kSummands == 2) {
      return activate(x[0] + x[1]);
    } else {
      return activate(x[0]);
    }
  }
};

// act' · (x1 [+ x2]), the slope from x0.
template <class Activate, int kSummands>
struct ActivatedGradient {
  Activate activate;
  BENCH_DEVICE float operator()(const float (&x)[kSummands + 1]) const {
    if constexpr (kSummands == 2) {
      return (x[1] + x[2]) * activate.slope(x[0]);
    } else {
      return x[1] * activate.slope(x[0]);
    }
  }
};

template <class Machine>
class ElementwiseOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Elementwise;
  static Dtype dtype_of(const Elementwise& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const Elementwise& spec) { return spec.invalid(); }

  ElementwiseOperation(const Elementwise& spec, Device& device)
      : KernelOperation<Machine>(device, plain_slots(spec)), spec_(spec) {}

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      if (spec_.activation == Activation::gelu) {
        run_with<Element>(pointers, TanhGelu{});
      } else {
        run_with<Element>(pointers, Rectifier::of(spec_.activation));
      }
    });
  }

  bool in_place_sum() const override { return spec_.forward() && spec_.summands == 2; }
  double flops() const override { return spec_.flops(); }

 private:
  template <class Element, class Activate>
  void run_with(const SlotPointers& pointers, const Activate& activate) const {
    const auto at = [&](Slot slot) { return this->template stored<Element>(pointers, slot); };
    const std::int64_t count = stored_elements(spec_.tensor);
    const bool one = spec_.summands == 1;
    if (spec_.forward()) {
      const auto *const src = at(Slot::src), *const src1 = at(Slot::src1);
      if (one) {
        launch_elementwise<Element>(this->queue(), {src}, at(Slot::dst), count,
                                    Activated<Activate, 1>{activate});
      } else {
        launch_elementwise<Element>(this->queue(), {src, src1}, at(Slot::dst), count,
                                    Activated<Activate, 2>{activate});
      }
      return;
    }
    const auto *const from = at(spec_.slope_from()), *const diff_dst = at(Slot::diff_dst),
                      *const src1 = at(Slot::src1);
    if (one) {
      launch_elementwise<Element>(this->queue(), {from, diff_dst}, at(Slot::diff_src), count,
                                  ActivatedGradient<Activate, 1>{activate});
    } else {
      launch_elementwise<Element>(this->queue(), {from, diff_dst, src1}, at(Slot::diff_src), count,
                                  ActivatedGradient<Activate, 2>{activate});
    }
  }

  Elementwise spec_;
};

// dst = activate(dst + bias + residual) in place; bias and residual may be null. kWideBias: the bias is fp32
// whatever the element.
template <class Element, int kCount, bool kWideBias, class Activate>
struct FinishRows {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "finish";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  Stored* dst;
  const void* bias;
  const Stored* residual;
  Activate activate;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place(thread);
    if (!place.inside) {
      return;
    }
    const std::int64_t columns = std::int64_t{tiling.columns} * kCount;
    const std::int64_t column = std::int64_t{place.column} * kCount;
    float shift[kCount] = {};
    if (bias != nullptr) {
      if constexpr (kWideBias) {
        load_floats<Memory>(static_cast<const float*>(bias) + column, shift);
      } else {
        load_values<Element>(static_cast<const Stored*>(bias) + column, shift);
      }
    }
    const auto step = static_cast<std::uint32_t>(tiling.height());
    for (std::uint32_t row = place.row; row < place.last; row += step * Tiling::kUnroll) {
      Vector<kBytesOf<Element, kCount>> values[Tiling::kUnroll];
      Vector<kBytesOf<Element, kCount>> residuals[Tiling::kUnroll] = {};
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          values[u] = load_vector<Element, kCount>(dst + at * columns + column);
          if (residual != nullptr) {
            residuals[u] = load_vector<Element, kCount>(residual + at * columns + column);
          }
        }
      }
      for (int u = 0; u < Tiling::kUnroll; ++u) {
        if (const std::uint32_t at = row + step * u; at < place.last) {
          float x[kCount];
          float added[kCount];
          unpack<Element>(values[u], x);
          unpack<Element>(residuals[u], added);  // zeros where there is none
          for (int i = 0; i < kCount; ++i) {
            x[i] = activate(x[i] + added[i] + shift[i]);
          }
          store_values<Element>(dst + at * columns + column, x);
        }
      }
    }
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
