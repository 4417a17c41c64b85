// The answers of the CUDA runtime that decide what happens next. Needs no CUDA header.
#pragma once

#include <string>
#include <string_view>

#include "kernels/device/cuda/place.h"

namespace bench::kernels::cuda {

// cudaError_t of these names; the numbers are part of CUDA's interface.
namespace status {
inline constexpr int kSuccess = 0;
inline constexpr int kMemoryAllocation = 2;
inline constexpr int kInsufficientDriver = 35;
inline constexpr int kNoDevice = 100;
inline constexpr int kIllegalAddress = 700;
inline constexpr int kLaunchFailure = 719;
}  // namespace status

// After such an error every call in this process answers with it again: only a new process can use the card.
bool is_sticky(int error);

struct Failure {
  int error = status::kSuccess;
  std::string name;        // "cudaErrorIllegalAddress"
  std::string text;        // what the runtime says about it
  bool stays_set = false;  // it was still there after it had been cleared
};

// "kernels/device/cuda/device.cpp:42": from the checkout's root on, whatever folder the compiler was started
// in.
std::string text_of(Place place);

// Throws OutOfMemory, DeviceLost for what is sticky, else runtime_error. The message names call, value and
// place.
[[noreturn]] void raise(const Failure& failure, std::string_view call, Place place);

}  // namespace bench::kernels::cuda
