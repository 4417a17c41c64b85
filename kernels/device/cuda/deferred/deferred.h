// cuDNN, cuBLASLt and nvrtc, opened when one of their functions is first called. Linked, they would be
// opened, bound and relocated (half a gigabyte of them) whenever the program starts, on machines without a
// card as well.
//
// Each of the other files here defines a library's functions, as its own header declares them, and hands the
// call on: callers, cudnn-frontend among them, are written as if the library were linked. A function that is
// missing answers with the library's own code for "not there".
#pragma once

#include <string>

#include "kernels/device/cuda/shared_library.h"

namespace bench::kernels::cuda::deferred {

// Each is opened by its first use and stays open until the process ends: handles made by it may be as old.
const SharedLibrary& cudnn();
const SharedLibrary& cublaslt();
const SharedLibrary& nvrtc();

// Why the CUDA device cannot be used: the loader's words for the first of them that does not open; empty
// where all do. Opens them.
std::string why_missing();

// `declared` only names the type.
template <class Function>
Function* found(const SharedLibrary& library, Function* /*declared*/, const char* name) {
  return library.find<Function>(name);
}

}  // namespace bench::kernels::cuda::deferred
