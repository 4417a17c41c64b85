// A function of one element of each input, element by element, 16 bytes at a time.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/vector_access.cuh"

namespace bench::kernels::cuda {

// Element e of out is function({in[0][e], in[1][e], …}). out may be one of the inputs: each thread reads what
// it writes before it does.
//
// A thread has kUnroll accesses to each input under way before it needs the first: one alone would leave the
// memory idle between its start and its end. Small tensors rather spread over more threads. A function that
// says it is long has its code once for all elements of an access.
template <class Element, int kInputs, int kUnroll, class Function>
struct ElementwiseKernel {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "elementwise";
  using Stored = typename Element::Stored;

  const Stored* in[kInputs];
  Stored* out;
  std::int64_t count;
  std::int64_t vectors;  // whole accesses, from the start; 0 where a pointer is not aligned to one
  Function function;

  static constexpr bool kRolled = requires { requires Function::kIsLong; };

  using Share = GridStride<kThreads, kUnroll>;
  static std::int64_t blocks(std::int64_t accesses) { return Share::blocks(accesses); }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    constexpr int kWidth = kLanes<Element>;
    const std::int64_t first = Share::first(thread);
    Vector<kAccess> words[kUnroll][kInputs];
    BENCH_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      if (const std::int64_t at = first + u * kThreads; at < vectors) {
        for (int k = 0; k < kInputs; ++k) {
          words[u][k] = load_vector<Element, kWidth>(in[k] + at * kWidth);
        }
      }
    }
    BENCH_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      if (const std::int64_t at = first + u * kThreads; at < vectors) {
        float x[kInputs][kWidth];
        for (int k = 0; k < kInputs; ++k) {
          unpack<Element>(words[u][k], x[k]);
        }
        if constexpr (kRolled) {
          one_by_one(x);
          store_values<Element>(out + at * kWidth, x[0]);
        } else {
          float result[kWidth];
          BENCH_UNROLL
          for (int i = 0; i < kWidth; ++i) {
            float arguments[kInputs];
            for (int k = 0; k < kInputs; ++k) {
              arguments[k] = x[k][i];
            }
            result[i] = function(arguments);
          }
          store_values<Element>(out + at * kWidth, result);
        }
      }
    }
    Share::template each<kRolled>(thread, vectors * kWidth, count, [&](std::int64_t at) {
      float arguments[kInputs];
      for (int k = 0; k < kInputs; ++k) {
        float one[1];
        load_values<Element>(in[k] + at, one);
        arguments[k] = one[0];
      }
      const float result[1] = {function(arguments)};
      store_values<Element>(out + at, result);
    });
  }

 private:
  // x[0] becomes the function of all.
  template <int kWidth>
  BENCH_DEVICE void one_by_one(float (&x)[kInputs][kWidth]) const {
    BENCH_ROLLED
    for (int i = 0; i < kWidth; ++i) {
      float arguments[kInputs];
      BENCH_UNROLL
      for (int k = 0; k < kInputs; ++k) {
        arguments[k] = next_of(x[k]);
      }
      x[0][kWidth - 1] = function(arguments);
    }
  }
};

// Of a thread to each input, where the tensor is large.
inline constexpr int kAccessesAThread = 4;

// out[e] = function({in[0][e], …}) for `count` elements.
template <class Element, int kUnrolled = kAccessesAThread, class Queue, std::size_t kInputs, class Function>
void launch_elementwise(const Queue& queue, const std::array<const typename Element::Stored*, kInputs>& in,
                        typename Element::Stored* out, std::int64_t count, const Function& function) {
  std::int64_t vectors = whole_accesses<Element>(count, out);
  for (const auto* const input : in) {
    vectors = std::min(vectors, whole_accesses<Element>(count, input));
  }
  const std::int64_t accesses = blocks_for(count, kLanes<Element>);
  const auto run = [&]<int kUnroll>() {
    using Kernel = ElementwiseKernel<Element, static_cast<int>(kInputs), kUnroll, Function>;
    Kernel kernel{.in = {}, .out = out, .count = count, .vectors = vectors, .function = function};
    std::ranges::copy(in, kernel.in);
    queue.launch(kernel, Kernel::blocks(accesses));
  };
  // From where all threads that the device holds have as many.
  if (accesses >= queue.threads() * kUnrolled) {
    run.template operator()<kUnrolled>();
  } else {
    run.template operator()<1>();
  }
}

}  // namespace bench::kernels::cuda
