// What the implementations on a CUDA device share: the stream that work is queued on, and checked calls.
// Needs no CUDA header.
#pragma once

#include <string>

#include "bench/device.h"
#include "kernels/device/cuda/place.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace bench::kernels::cuda {

// The one stream of the device's workload. Throws std::logic_error where the device is no CUDA device.
CUstream_st* stream_of(Device& device);

// Compute capability as 10 · major + minor: 75 is a T4, 86 an RTX 3060, 90 an H100 or H200.
int compute_capability(const Device& device);

// `error` is a cudaError_t. Success passes; anything else throws OutOfMemory or runtime_error naming the
// call, the value and the place.
void check(int error, const char* call, Place place = Place::current());

// After a kernel launch `what`: what the launch itself reports. Errors inside a kernel show up later.
void check_launch(const std::string& what, Place place = Place::current());

}  // namespace bench::kernels::cuda
