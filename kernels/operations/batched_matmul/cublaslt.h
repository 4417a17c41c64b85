// Products of matrices side by side as cuBLASLt does them: those of the innermost leading dimension in a
// call.
#pragma once

#include <numeric>
#include <string>

#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels::cublaslt {

struct BatchedCalls {
  // Elements from one call's matrices to the next's, for a leading dimension but the innermost.
  struct Loop {
    std::int64_t extent = 1, a = 0, b = 0, d = 0;
  };
  std::vector<Loop> loops;  // outermost first
  Product product;

  explicit BatchedCalls(const BatchedMatmul& spec) {
    const MergedMatmul all = merged(spec);
    product = dense(spec.dtype, all.rows, spec.inner, spec.columns, spec.transpose_a, spec.transpose_b);
    product.scale = spec.scale;
    Loop step{.extent = 1,
              .a = all.rows * spec.inner,
              .b = spec.inner * spec.columns,
              .d = all.rows * spec.columns};
    // Every matrix begins at an address that is aligned so.
    const std::int64_t each = bytes_of(spec.dtype);
    product.alignment = all.leading.empty()
                            ? product.alignment
                            : std::gcd(product.alignment, std::gcd(step.a, std::gcd(step.b, step.d)) * each);
    loops.resize(all.leading.size());
    for (std::size_t i = all.leading.size(); i-- > 0;) {
      const MergedMatmul::Axis& axis = all.leading[i];
      loops[i] = {axis.extent, axis.a_moves ? step.a : 0, axis.b_moves ? step.b : 0, step.d};
      step.a *= axis.a_moves ? axis.extent : 1;
      step.b *= axis.b_moves ? axis.extent : 1;
      step.d *= axis.extent;
    }
    if (!loops.empty()) {
      product.batch = loops.back().extent;
      product.a.batch_step = loops.back().a;
      product.b.batch_step = loops.back().b;
      product.d.batch_step = loops.back().d;
      loops.pop_back();
    }
  }
};

// Multiplier does a product: see kernels/operations/attention/cuda.cu.
template <class Multiplier>
class BatchedMatmulOperation final : public ReferenceOf<BatchedMatmul> {
 public:
  BatchedMatmulOperation(const BatchedMatmul& spec, Device& device)
      : ReferenceOf(spec), calls_(spec), multiplier_(calls_.product, device) {
    if (multiplier_.workspace() > 0) {
      slots_.push_back(cuda::library_scratch(multiplier_.workspace()));
    }
  }

  std::string algorithm() const override { return multiplier_.algorithm(); }

  void run(const SlotPointers& pointers) override {
    std::int64_t count = 1;
    for (const BatchedCalls::Loop& loop : calls_.loops) {
      count *= loop.extent;
    }
    for (std::int64_t call = 0; call < count; ++call) {
      BatchedCalls::Loop at{};
      std::int64_t rest = call;
      for (std::size_t i = calls_.loops.size(); i-- > 0;) {
        const BatchedCalls::Loop& loop = calls_.loops[i];
        const std::int64_t index = rest % loop.extent;
        rest /= loop.extent;
        at.a += index * loop.a;
        at.b += index * loop.b;
        at.d += index * loop.d;
      }
      multiplier_.run({.a = element(pointers, Slot::src, at.a),
                       .b = element(pointers, Slot::src1, at.b),
                       .d = element(pointers, Slot::dst, at.d),
                       .workspace = pointers[Slot::workspace]});
    }
  }

 private:
  std::byte* element(const SlotPointers& pointers, Slot slot, std::int64_t at) const {
    return static_cast<std::byte*>(pointers[slot]) + at * bytes_of(spec_.dtype);
  }

  BatchedCalls calls_;
  Multiplier multiplier_;
};

}  // namespace bench::kernels::cublaslt
