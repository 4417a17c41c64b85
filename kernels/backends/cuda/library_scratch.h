// Scratch that NVIDIA's libraries are given: cublasLtMatmul wants it at a multiple of 256 bytes, which is
// what cudaMalloc gives; cuDNN gets the same.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernels/operations/operation.h"

namespace bench::kernels::cuda {

inline constexpr std::int64_t kLibraryScratchAlignment = 256;

// Of a part of the scratch that stands before a library's: what follows it is aligned again.
constexpr std::int64_t before_library_scratch(std::int64_t bytes) {
  return (bytes + kLibraryScratchAlignment - 1) / kLibraryScratchAlignment * kLibraryScratchAlignment;
}

// The slot in which an operation asks for it.
inline SlotInfo library_scratch(std::int64_t bytes) {
  return {
      .slot = Slot::workspace, .role = Role::scratch, .bytes = bytes, .alignment = kLibraryScratchAlignment};
}

// Before a library is given it, so that what is planned wrongly is not left to the library to find. Throws
// std::logic_error where it lies elsewhere.
inline void check_library_scratch(const void* scratch) {
  if (reinterpret_cast<std::uintptr_t>(scratch) % static_cast<std::uintptr_t>(kLibraryScratchAlignment) !=
      0) {
    throw std::logic_error("a library's scratch does not lie at a multiple of 256 bytes");
  }
}

}  // namespace bench::kernels::cuda
