// What the implementations on a CUDA device share: the stream that work is queued on, and checked calls.
// Needs no CUDA header.
#pragma once

#include <string>

#include "bench/device.h"
#include "kernels/devices/cuda/errors.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace bench::kernels::cuda {

// The one stream of the device's workload. Throws std::logic_error where the device is no CUDA device.
CUstream_st* stream_of(Device& device);

// `error` is a cudaError_t. Success passes; anything else throws OutOfMemory or runtime_error naming the
// call, the value and the place.
void check(int error, const char* call, Place place = Place::current());

}  // namespace bench::kernels::cuda
