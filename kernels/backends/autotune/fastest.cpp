#include "kernels/backends/autotune/fastest.h"

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

// In milliseconds. Beside so long a time the 10 us or so that the host takes to queue a run do not count;
// what takes half of it is timed by itself.
constexpr float kLong = 0.5F;
constexpr float kShort = kLong / 2;
constexpr float kMostTimed = 8;
constexpr Repeats kOnce{.ahead = 0, .timed = 1};
constexpr int kTimesOnce = 5;
constexpr int kTimesSeveral = 3;

// As many runs as last kLong, by the time that one took.
Repeats several(float once) {
  return {.ahead = 1, .timed = static_cast<int>(std::min(std::ceil(kLong / once), kMostTimed))};
}

// The shortest of a way's times. Ends early where the way is far behind: no noise makes up for twice the
// time.
float shortest(std::size_t way, const Attempt& attempt, float to_beat) {
  attempt(way, kOnce);
  const float once = attempt(way, kOnce);
  const bool is_short = once < kShort;
  const Repeats repeats = is_short ? several(once) : kOnce;
  float best = is_short ? std::numeric_limits<float>::infinity() : once;
  float last = is_short ? 0.0F : once;
  for (int left = is_short ? kTimesSeveral : kTimesOnce - 1; left > 0 && last <= 2 * to_beat; --left) {
    last = attempt(way, repeats);
    best = std::min(best, last);
  }
  return best;
}

// Why ways were refused.
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

std::size_t fastest_of(std::size_t ways, const Attempt& attempt) {
  std::optional<std::size_t> best;
  float best_milliseconds = std::numeric_limits<float>::infinity();
  Refusals refusals;
  for (std::size_t way = 0; way < ways; ++way) {
    try {
      const float milliseconds = shortest(way, attempt, best_milliseconds);
      if (!best || milliseconds < best_milliseconds) {
        best = way;
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

std::size_t fastest(Runtime& runtime, CUstream_st* stream, std::size_t ways,
                    const std::function<void(std::size_t)>& run) {
  const Event start(runtime);
  const Event stop(runtime);
  return fastest_of(ways, [&](std::size_t way, Repeats repeats) {
    for (int i = 0; i < repeats.ahead; ++i) {
      run(way);
    }
    runtime.check(runtime.record(start.get(), stream), "cudaEventRecord before a way to be timed");
    for (int i = 0; i < repeats.timed; ++i) {
      run(way);
    }
    runtime.check(runtime.record(stop.get(), stream), "cudaEventRecord behind a way to be timed");
    runtime.check(runtime.wait(stop.get()), "cudaEventSynchronize behind a way to be timed");
    float milliseconds = 0;
    runtime.check(runtime.elapsed_ms(milliseconds, start.get(), stop.get()), "cudaEventElapsedTime");
    return milliseconds / static_cast<float>(repeats.timed);
  });
}

}  // namespace bench::kernels::cuda
