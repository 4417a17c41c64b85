// Autotuning: tries each candidate for the same work on a CUDA device and takes the one of the shortest time.
// Needs no CUDA header.
//
// A candidate of less than a quarter of a millisecond is timed by several runs between two events: as many as
// take half a millisecond, eight at most, after one run that is not timed. The card is then at work when it
// stamps the first event, and the host queues the next runs meanwhile. The events around a single run on an
// idle card would mostly show how long the host takes to queue it. Not shown: where the host queues more
// slowly than the card works, the time is the host's, as it is in steps launched one by one.
//
// A choice is bounded: once kMostTuning has passed since the end of the first warm-up, no run starts, and the
// best candidate so far is taken. The first warm-up is not counted, because it may open a library.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "bench/clock.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

// How a candidate is timed: runs that only keep the card busy, then those between the events.
struct Repeats {
  int ahead = 0;
  int timed = 1;
};

inline constexpr std::chrono::nanoseconds kMostTuning = std::chrono::seconds(1);

// Milliseconds a run. Throws where the candidate could not be run.
using TimeCandidate = std::function<float(std::size_t candidate, Repeats repeats)>;

// Runs each candidate twice: a warm-up, which loads its kernels and is never compared, and a run that is
// timed. Those that take more than twice the best time are dropped; the others are timed again in turns,
// unless only one is left. Returns the candidate of the shortest time.
//
// A candidate that is refused once is left out: the runs queued before may be half of its work. DeviceLost
// passes at once. Where none is left, throws why one was refused: OutOfMemory if any lacked memory, else the
// last refusal.
std::size_t autotune(std::size_t candidates, const TimeCandidate& time, const Clock& clock = steady_clock());

// The same, timed between two events. `run` queues a candidate's work on the stream, and throws where the
// library refuses it. Waits for the device.
std::size_t autotune(Runtime& runtime, CUstream_st* stream, std::size_t candidates,
                     const std::function<void(std::size_t)>& run, const Clock& clock = steady_clock());

}  // namespace bench::kernels::cuda
