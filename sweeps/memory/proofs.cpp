// Tries each limit on the device: its batch has to fit below the cap, and the next larger one not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/stats/search.h"
#include "bench/text/units.h"
#include "sweeps/memory/limits.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

// Restores the device's cap, whatever happens.
class CapForNow {
 public:
  CapForNow(Device& device, std::int64_t cap) : device_(device), before_(device.memory().cap()) {
    device_.memory().set_cap(cap);
  }
  ~CapForNow() { device_.memory().set_cap(before_); }
  CapForNow(const CapForNow&) = delete;
  CapForNow& operator=(const CapForNow&) = delete;

 private:
  Device& device_;
  std::optional<std::int64_t> before_;
};

class LimitProver {
 public:
  explicit LimitProver(SweepStudy& study) : study_(study) {}

  // Throws DeviceLost, Interrupted and UsageError.
  LimitTrial prove(const Limit& limit, const StudiedSeries& series) {
    const std::int64_t available = study_.device.info().available_bytes;
    if (limit.largest_bytes.value_or(0) > available / 10 * 9) {
      return {.not_tried = fmt::format("this machine has {} free", format_bytes(available))};
    }
    if (limit.input_bytes > 0 && study_.left_ns() > series.cost.make_ns) {
      measure_filling(limit.input_bytes);
    }
    const CapForNow smaller(study_.device, limit.cap_bytes);
    try {
      return search(limit, series);
    } catch (const NoTime&) {
      return {.not_tried = std::string(kNoTimeToTry)};
    } catch (const UsageError&) {
      throw;
    } catch (const DeviceLost&) {
      throw;
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      return {.not_tried = std::string("it failed: ") + error.what()};
    }
  }

  std::int64_t tried_batch() const { return tried_batch_; }  // the last one

 private:
  class NoTime : public std::exception {};

  LimitTrial search(const Limit& limit, const StudiedSeries& series) {
    const std::int64_t unit = batch_unit(series.first->spec);
    // From the smallest batch that can run on; smaller ones cannot be tried.
    const std::int64_t smallest = limit.smallest_batch / unit;
    const std::int64_t planned = limit.largest_batch / unit;
    const std::int64_t guess = std::max(planned, smallest);
    LimitTrial trial;
    const LargestFit found = find_largest_fit(guess, std::max(2 * guess, guess + 2), [&](std::int64_t units) {
      return units < smallest || fits(limit, series, units * unit, trial);
    });
    const std::int64_t largest = found.size < smallest ? 0 : found.size;
    trial.largest_batch = largest * unit;
    trial.probes = found.asked;
    if (found.bounded) {
      trial.refused_batch = (largest + 1) * unit;
    }
    return trial;
  }

  // Whether the batch can be made; if so, `trial` has its bytes, and whether it ran a step.
  bool fits(const Limit& limit, const StudiedSeries& series, std::int64_t batch, LimitTrial& trial) {
    if (study_.interrupted()) {
      throw Interrupted("interrupted while limits were tried");
    }
    // Memory beyond the limit is refused before it is written.
    const double writing_ns = batch > limit.largest_batch ? 0 : expected_writing_ns(limit);
    if (study_.left_ns() <= series.cost.make_ns + writing_ns) {
      throw NoTime();
    }
    study_.report(
        fmt::format("does batch {} fit {}? {}", batch, format_bytes(limit.cap_bytes), series.label));
    tried_batch_ = batch;
    WorkloadSpec spec = series.first->spec;
    spec.batch = batch;
    Device& device = study_.device;
    device.memory().reset_peak();
    bool ran = false;
    try {
      const Clock::time_point start = study_.request.clock.now();
      const auto workload = study_.request.workload->configure(spec)->make(device);
      const double beyond_ns = study_.request.clock.since_ns(start) - series.cost.make_ns;
      slowest_ns_per_byte_ = std::max(slowest_ns_per_byte_, beyond_ns / bytes_of(limit));
      // Everything is allocated by now: a step proves the rest, where there is time for it.
      if (batch == limit.largest_batch && first_step_ns(series, batch) < 0.25 * study_.left_ns()) {
        device.time([&] { workload->step(); });
        ran = true;
      }
    } catch (const OutOfMemory&) {
      return false;
    } catch (const Unsupported&) {
      return false;
    }
    trial.ran_a_step = ran;
    trial.tracked_bytes = device.memory().peak();
    return true;
  }

  static double bytes_of(const Limit& limit) {
    return static_cast<double>(limit.largest_bytes.value_or(limit.cap_bytes));
  }

  // Writing to memory for the first time takes long where the system hands it out page by page: 3 s a GB on a
  // virtual machine, of pages that its host has not given it yet. Those come after the ones that earlier
  // programs used, so blocks are kept until they are as many as the trial writes, or a tenth of the time is
  // over; the slowest tells.
  void measure_filling(std::int64_t most_bytes) {
    constexpr std::int64_t kBlock = std::int64_t{64} << 20;
    if (fill_ns_per_byte_) {
      return;
    }
    fill_ns_per_byte_ = 0;
    try {
      const Clock& clock = study_.request.clock;
      const double end_ns = 0.9 * study_.left_ns();
      std::vector<Buffer> blocks;
      do {
        const Clock::time_point start = clock.now();
        blocks.push_back(study_.device.allocate(kBlock, MemoryCategory::other));
        study_.device.fill(blocks.back().data(), std::byte{0}, kBlock);
        study_.device.synchronize();
        fill_ns_per_byte_ = std::max(*fill_ns_per_byte_, clock.since_ns(start) / static_cast<double>(kBlock));
      } while (static_cast<std::int64_t>(blocks.size()) * kBlock < most_bytes && study_.left_ns() > end_ns);
    } catch (const OutOfMemory&) {  // below so small a cap nothing takes long
    }
  }

  double expected_writing_ns(const Limit& limit) const {
    return std::max(slowest_ns_per_byte_ * bytes_of(limit),
                    fill_ns_per_byte_.value_or(0) * static_cast<double>(limit.input_bytes));
  }

  // A card tunes algorithms in the first step with a batch, as it did in the run.
  static double first_step_ns(const StudiedSeries& series, std::int64_t batch) {
    return series.largest == nullptr
               ? std::numeric_limits<double>::infinity()
               : series.cost.warm_up_ns + series.largest->stats.median_ns * static_cast<double>(batch) /
                                              static_cast<double>(series.largest_point->spec.batch);
  }

  SweepStudy& study_;
  std::int64_t tried_batch_ = 0;
  // Making a batch near a limit takes longer than making the series' largest point did, because it writes
  // more bytes: this much for each of its bytes, in the slowest trial so far …
  double slowest_ns_per_byte_ = 0;
  std::optional<double> fill_ns_per_byte_;  // … and this much for each that is written, by measurement
};

}  // namespace

void prove_limits(SweepStudy& study, const std::vector<StudiedSeries>& all, const Limits& before,
                  Limits& limits) {
  LimitProver prover(study);
  for (Limit& limit : limits.all) {
    const auto series = std::ranges::find(all, limit.label, &StudiedSeries::label);
    if (study.interrupted() || series == all.end()) {
      continue;
    }
    const Limit* const tried = before.find(limit.label, limit.cap_bytes);
    if (tried != nullptr && tried->proof) {
      limit.proof = tried->proof;
      continue;
    }
    try {
      limit.proof = prover.prove(limit, *series);
    } catch (const DeviceLost& error) {  // this process can try nothing else
      limit.proof = LimitTrial{.not_tried = fmt::format("the device was lost at batch {} ({})",
                                                        prover.tried_batch(), error.what())};
      study.lost[fmt::format("{} within {} B", limit.label, limit.cap_bytes)] = error.what();
      study.save();
      throw;
    }
    study.save();
  }
}

}  // namespace bench::sweeps
