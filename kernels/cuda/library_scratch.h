// Scratch that NVIDIA's libraries are given: cublasLtMatmul wants it at a multiple of 256 bytes, which is
// what cudaMalloc gives; cuDNN gets the same.
#pragma once

#include <cstdint>

namespace bench::kernels::cuda {

inline constexpr std::int64_t kLibraryScratchAlignment = 256;

// Of a part of the scratch that stands before a library's: what follows it is aligned again.
constexpr std::int64_t before_library_scratch(std::int64_t bytes) {
  return (bytes + kLibraryScratchAlignment - 1) / kLibraryScratchAlignment * kLibraryScratchAlignment;
}

}  // namespace bench::kernels::cuda
