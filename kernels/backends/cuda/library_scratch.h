// Scratch that NVIDIA's libraries are given: cublasLtMatmul wants it at a multiple of 256 bytes, which is
// what cudaMalloc gives; cuDNN gets the same.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernels/operations/operation.h"

namespace bench::kernels::cuda {

inline constexpr std::int64_t kLibraryScratchAlignment = 256;

// The size of a part in front of a library's scratch, rounded up so that the library's is aligned.
constexpr std::int64_t before_library_scratch(std::int64_t bytes) {
  return (bytes + kLibraryScratchAlignment - 1) / kLibraryScratchAlignment * kLibraryScratchAlignment;
}

// The slot in which an operation asks for it.
inline SlotInfo library_scratch(std::int64_t bytes) {
  return {
      .slot = Slot::workspace, .role = Role::scratch, .bytes = bytes, .alignment = kLibraryScratchAlignment};
}

// Called before a library gets the scratch, so that a wrong plan fails here and not in the library. Throws
// std::logic_error where the address is not such a multiple.
inline void check_library_scratch(const void* scratch) {
  if (reinterpret_cast<std::uintptr_t>(scratch) % static_cast<std::uintptr_t>(kLibraryScratchAlignment) !=
      0) {
    throw std::logic_error("a library's scratch does not lie at a multiple of 256 bytes");
  }
}

}  // namespace bench::kernels::cuda
