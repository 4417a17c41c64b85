#include "kernels/backends/cuda/autotune.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/error.h"
#include "kernels/devices/cuda/handles.h"

namespace bench::kernels::cuda {
namespace {

// Milliseconds. The host takes about 10 us to queue a run, 2 % of kLong; a run of half of kLong is timed by
// itself.
constexpr float kLong = 0.5F;
constexpr float kShort = kLong / 2;
constexpr float kMostTimed = 8;
constexpr Repeats kOnce{.ahead = 0, .timed = 1};
constexpr int kTimesOnce = 5;
constexpr int kTimesSeveral = 3;

// As many runs as take kLong, from the time of one.
Repeats several(float once) {
  return {.ahead = 1, .timed = static_cast<int>(std::min(std::ceil(kLong / once), kMostTimed))};
}

// The shortest of a candidate's times. Ends early at twice the best time so far, more than noise explains.
float shortest(std::size_t candidate, const TimeCandidate& time, float to_beat) {
  time(candidate, kOnce);
  const float once = time(candidate, kOnce);
  const bool is_short = once < kShort;
  const Repeats repeats = is_short ? several(once) : kOnce;
  float best = is_short ? std::numeric_limits<float>::infinity() : once;
  float last = is_short ? 0.0F : once;
  for (int left = is_short ? kTimesSeveral : kTimesOnce - 1; left > 0 && last <= 2 * to_beat; --left) {
    last = time(candidate, repeats);
    best = std::min(best, last);
  }
  return best;
}

// Why candidates were refused.
class Refusals {
 public:
  void note(std::exception_ptr refusal, bool out_of_memory) {
    if (out_of_memory || !out_of_memory_) {
      last_ = std::move(refusal);
    }
    out_of_memory_ = out_of_memory_ || out_of_memory;
  }
  [[noreturn]] void rethrow() const {
    if (last_) {
      std::rethrow_exception(last_);
    }
    throw std::logic_error("there is nothing to choose from");
  }

 private:
  std::exception_ptr last_;
  bool out_of_memory_ = false;
};

}  // namespace

std::size_t autotune(std::size_t candidates, const TimeCandidate& time) {
  std::optional<std::size_t> best;
  float best_milliseconds = std::numeric_limits<float>::infinity();
  Refusals refusals;
  for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
    try {
      const float milliseconds = shortest(candidate, time, best_milliseconds);
      if (!best || milliseconds < best_milliseconds) {
        best = candidate;
        best_milliseconds = milliseconds;
      }
    } catch (const DeviceLost&) {
      throw;
    } catch (const OutOfMemory&) {
      refusals.note(std::current_exception(), true);
    } catch (const std::runtime_error&) {
      refusals.note(std::current_exception(), false);
    }
  }
  if (!best) {
    refusals.rethrow();
  }
  return *best;
}

std::size_t autotune(Runtime& runtime, CUstream_st* stream, std::size_t candidates,
                     const std::function<void(std::size_t)>& run) {
  const CudaEvent start(runtime);
  const CudaEvent stop(runtime);
  return autotune(candidates, [&](std::size_t candidate, Repeats repeats) {
    for (int i = 0; i < repeats.ahead; ++i) {
      run(candidate);
    }
    runtime.check(runtime.record(start.get(), stream), "cudaEventRecord before a candidate");
    for (int i = 0; i < repeats.timed; ++i) {
      run(candidate);
    }
    runtime.check(runtime.record(stop.get(), stream), "cudaEventRecord after a candidate");
    runtime.check(runtime.wait(stop.get()), "cudaEventSynchronize after a candidate");
    float milliseconds = 0;
    runtime.check(runtime.elapsed_ms(milliseconds, start.get(), stop.get()), "cudaEventElapsedTime");
    return milliseconds / static_cast<float>(repeats.timed);
  });
}

}  // namespace bench::kernels::cuda
