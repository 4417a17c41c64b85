// Finds the fastest of several ways to do the same work on a CUDA device by trying each. Needs no CUDA
// header.
//
// Ways of less than a quarter of a millisecond are timed by several runs between two events, as many as make
// half of one and eight at most, behind one that is not timed: the card is at work when the first event is
// recorded, and the host queues on meanwhile. Of a single run on an idle card the events would mostly tell
// how long the host takes to queue it. What this does not show: where the host queues more slowly than the
// card works, its pace stays in, as it does in steps launched one by one.
#pragma once

#include <cstddef>
#include <functional>

#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

// How a way is timed: runs that only keep the card busy, then those between the events.
struct Repeats {
  int ahead = 0;
  int timed = 1;
};

// Milliseconds a run. Throws where the way could not be run.
using Attempt = std::function<float(std::size_t way, Repeats repeats)>;

// Runs each way once to warm up, then several times, and returns the one of the shortest time. A way that is
// refused once is left out, for what it queued before may be half of its work. DeviceLost passes at once.
// Where none is left, throws what refused one: OutOfMemory if any was refused for that, else the last
// refusal.
std::size_t fastest_of(std::size_t ways, const Attempt& attempt);

// The same by time between two events. `run` queues a way's work on the stream, and throws where the library
// refuses it. Waits for the device.
std::size_t fastest(Runtime& runtime, CUstream_st* stream, std::size_t ways,
                    const std::function<void(std::size_t)>& run);

}  // namespace bench::kernels::cuda
