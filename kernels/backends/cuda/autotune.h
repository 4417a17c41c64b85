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
#include <optional>
#include <string>

#include "bench/clock.h"
#include "kernels/devices/cuda/card.h"
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
// last refusal. Throws Interrupted, and times nothing, if the run is to end.
std::size_t autotune(std::size_t candidates, const TimeCandidate& time, const Clock& clock = steady_clock());

// The same, timed between two events. `run` queues a candidate's work on the stream, and throws where the
// library refuses it. Waits for the device.
std::size_t autotune(Runtime& runtime, CUstream_st* stream, std::size_t candidates,
                     const std::function<void(std::size_t)>& run, const Clock& clock = steady_clock());

// Which of a library's candidates does a piece of work on a card: the one that the card's choices name, else
// what autotuning finds in the first run. Shared by all operations of that work on the card.
//
// A choice of an earlier process is waited for in its first run. If it fails, it is forgotten and the
// candidates are tuned again; only if that fails too, the run does. If it finds no memory, it stays
// remembered: another is chosen, for this process alone. A card that does not autotune takes the first
// candidate.
class AutotunedChoice {
 public:
  using Name = std::function<std::string(std::size_t candidate)>;

  // The candidates of a run, as tuning uses them.
  struct Candidates {
    std::function<void(std::size_t candidate)> queue;
    // The fastest; nullopt where none can be timed: the first one is taken, and not remembered.
    std::function<std::optional<std::size_t>()> choose;
    Name name;
  };

  // `work`: its name in the card's choices.
  AutotunedChoice(Card& card, std::string work);

  // The choice among `count` candidates that the card remembers; nullopt where none of them has its name.
  std::optional<std::size_t> remembered(std::size_t count, const Name& name) const;
  // Runs begin with this one, which was remembered.
  void take(std::size_t candidate);
  void forget();
  // The remembered one found no memory: another is chosen, and not remembered in its place.
  void set_aside();

  // The first, the library's favourite, until one is chosen.
  std::size_t candidate() const { return best_.value_or(0); }
  // Whether candidate() has been chosen and has run: nothing is left for run() to do but to queue it.
  bool is_settled() const { return best_ && !untried_; }
  // Queues the work on the card's stream. While that is recorded nothing is tuned.
  void run(const Candidates& candidates);

 private:
  bool remembered_one_runs(const Candidates& candidates);

  Card& card_;
  std::string work_;
  std::optional<std::size_t> best_;
  bool untried_ = false;  // the best was remembered, and has not run yet
  bool is_set_aside_ = false;
};

}  // namespace bench::kernels::cuda
