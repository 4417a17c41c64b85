// Chooses how an element-wise kernel is spread over threads.
#pragma once

#include "kernels/cuda/flat.cuh"
#include "kernels/cuda/kernel_operation.h"

namespace bench::kernels::cuda {

// out[e] = function({in[0][e], …}) for `count` elements.
template <class Element, class Queue, std::size_t kInputs, class Function>
void launch_flat(const Queue& queue, const typename Element::Stored* const (&in)[kInputs],
                 typename Element::Stored* out, std::int64_t count, const Function& function) {
  std::int64_t vectors = whole_accesses<Element>(count, out);
  for (const auto* const input : in) {
    vectors = std::min(vectors, whole_accesses<Element>(count, input));
  }
  const std::int64_t accesses = blocks_for(count, kLanes<Element>);
  const auto run = [&]<int kUnroll>() {
    using Kernel = Flat<Element, static_cast<int>(kInputs), kUnroll, Function>;
    Kernel kernel{.in = {}, .out = out, .count = count, .vectors = vectors, .function = function};
    std::copy_n(in, kInputs, kernel.in);
    queue.launch(kernel, Kernel::blocks(accesses));
  };
  // From where every multiprocessor has 2048 threads, as many as it can hold, with four accesses each.
  constexpr int kUnrolled = 4;
  if (accesses >= std::int64_t{queue.multiprocessors()} * 2048 * kUnrolled) {
    run.template operator()<kUnrolled>();
  } else {
    run.template operator()<1>();
  }
}

}  // namespace bench::kernels::cuda
