// When cuDNN or cuBLASLt reports a failure: whose it is. Needs no CUDA header.
#pragma once

#include <string>
#include <string_view>

namespace bench::kernels::cuda {

// A library's call failed, as `what` says. Waits for the device, which may be lost, and throws as below.
[[noreturn]] void library_failed(const std::string& what, bool out_of_memory);

// What the runtime answered when it was asked next.
struct DeviceAnswer {
  int error = 0;
  bool stays_set = false;  // it was still there after it had been cleared
};

// What an earlier kernel did shows in whichever call comes first: DeviceLost where the device's error is
// sticky or stays, OutOfMemory where the library or the device says so, else runtime_error.
[[noreturn]] void raise_library(const std::string& what, bool out_of_memory, const DeviceAnswer& device);

// Whether a library's message names a status or an error that means that memory, the device's or the host's,
// was refused. cudnn-frontend passes cuDNN's status on in words only.
bool says_out_of_memory(std::string_view message);

}  // namespace bench::kernels::cuda
