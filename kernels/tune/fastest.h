// Finds the fastest of several ways to do the same work on a CUDA device by trying each. Needs no CUDA
// header.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

struct CUstream_st;

namespace bench::kernels::cuda {

// Runs each way once to warm up, then several times between two events, and returns the one of the shortest
// run. `run` queues a way's work on the stream and returns false where the library refuses it: that one is
// left out. Waits for the device. nullopt where none ran. Throws runtime_error.
std::optional<std::size_t> fastest(CUstream_st* stream, std::size_t ways,
                                   const std::function<bool(std::size_t)>& run);

// Whether the stream is being recorded into a CUDA graph: then nothing may be waited for.
bool recording(CUstream_st* stream);

}  // namespace bench::kernels::cuda
