// The smallest kernel that can be seen to have run.
#pragma once

#include "kernels/cuda/words.cuh"

namespace bench::kernels::cuda {

struct StoreOne {
  static constexpr int kThreads = 32;
  static constexpr const char* kName = "launch";

  float* to;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() == 0) {
      *to = 1.0F;
    }
  }
};

}  // namespace bench::kernels::cuda
