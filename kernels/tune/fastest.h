// Finds the fastest of several ways to do the same work on a CUDA device by trying each. Needs no CUDA
// header.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

struct CUstream_st;

namespace bench::kernels::cuda {

// Runs a way once: how long it took in milliseconds, or nullopt where it could not be run.
using Attempt = std::function<std::optional<float>(std::size_t way)>;

// Runs each way once to warm up, then several times, and returns the one of the shortest run. A way that
// fails once is left out, for what it queued before may be half of its work. nullopt where none is left.
std::optional<std::size_t> fastest_of(std::size_t ways, const Attempt& attempt);

// The same by time between two events. `run` queues a way's work on the stream and returns false where the
// library refuses it. Waits for the device. Throws runtime_error.
std::optional<std::size_t> fastest(CUstream_st* stream, std::size_t ways,
                                   const std::function<bool(std::size_t)>& run);

// Whether the stream is being recorded into a CUDA graph: then nothing may be waited for.
bool recording(CUstream_st* stream);

}  // namespace bench::kernels::cuda
