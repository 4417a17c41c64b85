#include "kernels/backends/cuda/autotune.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "kernels/devices/cuda/handles.h"

namespace bench::kernels::cuda {
namespace {

// Milliseconds. The host takes about 10 us to queue a run, 2 % of kLong; a run of half of kLong is timed by
// itself.
constexpr float kLong = 0.5F;
constexpr float kShort = kLong / 2;
constexpr float kMostTimed = 8;
constexpr Repeats kOnce{.ahead = 0, .timed = 1};
constexpr int kTimesOnce = 4;  // after the first timed run
constexpr int kTimesSeveral = 3;
constexpr float kFarSlower = 2;  // times the best: more than noise explains

// As many runs as take kLong, from the time of one.
Repeats several(float once) {
  return {.ahead = 1, .timed = static_cast<int>(std::min(std::ceil(kLong / once), kMostTimed))};
}

// A candidate that ran. Times in milliseconds.
struct TimedCandidate {
  std::size_t number = 0;
  float once = 0;  // its first timed run
  float repeated = std::numeric_limits<float>::infinity();
  bool refused = false;

  bool is_short() const { return once < kShort; }
  Repeats repeats() const { return is_short() ? several(once) : kOnce; }
  int times() const { return is_short() ? kTimesSeveral : kTimesOnce; }
  // A short candidate's single run shows how fast the host queues: it counts only where there is no other.
  float shortest() const {
    return is_short() && std::isfinite(repeated) ? repeated : std::min(once, repeated);
  }
};

class Autotuner {
 public:
  Autotuner(std::size_t candidates, const TimeCandidate& time, const Clock& clock)
      : count_(candidates), time_(time), clock_(clock) {}

  std::size_t best() {
    time_each_once();
    drop_far_slower();
    repeat();
    const std::vector<TimedCandidate>& left = candidates_.empty() ? far_slower_ : candidates_;
    if (left.empty()) {
      rethrow_refusal();
    }
    return std::ranges::min(left, {}, &TimedCandidate::shortest).number;
  }

 private:
  void time_each_once() {
    for (std::size_t number = 0; number < count_ && has_time(); ++number) {
      runs([&] {
        time_(number, kOnce);
        started_ = started_.value_or(clock_.now());
        if (has_time()) {
          candidates_.push_back({.number = number, .once = time_(number, kOnce)});
        }
      });
    }
  }

  void drop_far_slower() {
    float best = std::numeric_limits<float>::infinity();
    for (const TimedCandidate& candidate : candidates_) {
      best = std::min(best, candidate.once);
    }
    const auto far = std::ranges::stable_partition(
        candidates_, [&](const TimedCandidate& candidate) { return candidate.once <= kFarSlower * best; });
    far_slower_.assign(far.begin(), far.end());
    candidates_.erase(far.begin(), far.end());
  }

  // In turns, so that a change of the card's clocks meets all of them.
  void repeat() {
    for (int turn = 0; turn < std::max(kTimesOnce, kTimesSeveral) && candidates_.size() > 1; ++turn) {
      for (TimedCandidate& candidate : candidates_) {
        if (turn < candidate.times() && has_time()) {
          candidate.refused = !runs([&] {
            candidate.repeated = std::min(candidate.repeated, time_(candidate.number, candidate.repeats()));
          });
        }
      }
      std::erase_if(candidates_, [](const TimedCandidate& candidate) { return candidate.refused; });
    }
  }

  // True until one candidate has been timed, however long that takes.
  bool has_time() const { return candidates_.empty() || clock_.now() - *started_ < kMostTuning; }

  // Whether the library took the run.
  template <class Run>
  bool runs(const Run& run) {
    try {
      run();
      return true;
    } catch (const DeviceLost&) {
      throw;
    } catch (const OutOfMemory&) {
      refusal_ = std::current_exception();
      out_of_memory_ = true;
    } catch (const std::runtime_error&) {
      refusal_ = out_of_memory_ ? refusal_ : std::current_exception();
    }
    return false;
  }

  [[noreturn]] void rethrow_refusal() const {
    if (refusal_) {
      std::rethrow_exception(refusal_);
    }
    throw std::logic_error("there is nothing to choose from");
  }

  std::size_t count_;
  const TimeCandidate& time_;
  const Clock& clock_;
  std::optional<Clock::time_point> started_;  // the end of the first warm-up
  std::vector<TimedCandidate> candidates_;
  std::vector<TimedCandidate> far_slower_;  // chosen from where every other candidate is refused
  std::exception_ptr refusal_;
  bool out_of_memory_ = false;
};

}  // namespace

std::size_t autotune(std::size_t candidates, const TimeCandidate& time, const Clock& clock) {
  stop_if_interrupted("algorithms were timed");
  return Autotuner(candidates, time, clock).best();
}

std::size_t autotune(Runtime& runtime, CUstream_st* stream, std::size_t candidates,
                     const std::function<void(std::size_t)>& run, const Clock& clock) {
  const CudaEvent start(runtime);
  const CudaEvent stop(runtime);
  const auto time = [&](std::size_t candidate, Repeats repeats) {
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
  };
  return autotune(candidates, time, clock);
}

AutotunedChoice::AutotunedChoice(Card& card, std::string work) : card_(card), work_(std::move(work)) {}

std::optional<std::size_t> AutotunedChoice::remembered(std::size_t count, const Name& name) const {
  return card_.choices().find(work_, count, name);
}

void AutotunedChoice::take(std::size_t candidate) {
  best_ = candidate;
  untried_ = true;
}

void AutotunedChoice::forget() {
  card_.choices().forget(work_);
  best_.reset();
  untried_ = false;
}

void AutotunedChoice::set_aside() {
  best_.reset();
  untried_ = false;
  is_set_aside_ = true;
}

void AutotunedChoice::run(const Candidates& candidates) {
  if (untried_ && remembered_one_runs(candidates)) {
    return;
  }
  if (best_ || card_.runtime().is_recording(card_.stream())) {
    candidates.queue(candidate());
    return;
  }
  const std::optional<std::size_t> chosen =
      card_.autotunes() ? candidates.choose() : std::optional<std::size_t>();
  candidates.queue(chosen.value_or(0));
  best_ = chosen.value_or(0);
  if (chosen && !is_set_aside_) {
    card_.choices().add(work_, candidates.name(*chosen));
  }
}

// A kernel's failure shows only when the card is waited for. After it nothing runs in this process, and the
// next one must not take the same candidate.
bool AutotunedChoice::remembered_one_runs(const Candidates& candidates) {
  Runtime& runtime = card_.runtime();
  const bool recording = runtime.is_recording(card_.stream());
  try {
    candidates.queue(*best_);
    if (!recording) {
      runtime.check(runtime.synchronize(card_.stream()), "cudaStreamSynchronize after a remembered choice");
      untried_ = false;
    }
    return true;
  } catch (const DeviceLost&) {
    forget();
    throw;
  } catch (const OutOfMemory&) {
    set_aside();
    if (recording) {
      throw;
    }
  } catch (const std::runtime_error&) {
    forget();
    if (recording) {
      throw;
    }
  }
  return false;
}

}  // namespace bench::kernels::cuda
