// When cuDNN or cuBLASLt reports a failure: whose it is. Needs no CUDA header.
#pragma once

#include <string>

namespace bench::kernels::cuda {

// A library's call failed, as `what` says. Waits for the device, which may be lost, and throws as below.
[[noreturn]] void library_failed(const std::string& what, bool out_of_memory);

// The runtime answered `device_error` when it was asked next. What an earlier kernel did shows in whichever
// call comes first: DeviceLost where that is sticky, OutOfMemory where the library says so, else
// runtime_error.
[[noreturn]] void raise_library(const std::string& what, bool out_of_memory, int device_error);

}  // namespace bench::kernels::cuda
