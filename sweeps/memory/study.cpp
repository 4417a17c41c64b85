#include "sweeps/memory/study.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/search.h"
#include "bench/measure/units.h"
#include "sweeps/memory/label.h"
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

// Tries the batches around one limit.
class LimitProver {
 public:
  LimitProver(SweepStudy& study, const Limit& limit, const StudiedSeries& series)
      : study_(study), limit_(limit), series_(series), unit_(batch_unit(series.first->spec)) {}

  LimitTrial prove() {
    const std::int64_t available = study_.device.info().available_bytes;
    if (limit_.largest_bytes.value_or(0) > available / 10 * 9) {
      return {.not_tried = fmt::format("this machine has {} free", format_bytes(available))};
    }
    if (study_.left_ns() <= 0) {
      return {.not_tried = "the time budget had ended"};
    }
    const CapForNow smaller(study_.device, limit_.cap_bytes);
    try {
      return search();
    } catch (const UsageError&) {
      throw;
    } catch (const DeviceLost& error) {
      lost_ = error.what();
      return {.not_tried = fmt::format("the device was lost at batch {} ({})", tried_batch_, lost_)};
    } catch (const std::exception& error) {
      return {.not_tried = std::string("it failed: ") + error.what()};
    }
  }

  // Why the device was lost; empty: it was not.
  const std::string& lost() const { return lost_; }

 private:
  struct Probe {
    bool fits = false;
    bool ran = false;
    std::int64_t tracked = 0;  // bytes at the peak
  };

  LimitTrial search() {
    // From the smallest batch that can run on; smaller ones cannot be tried.
    const std::int64_t smallest = limit_.smallest_batch / unit_;
    const std::int64_t planned = limit_.largest_batch / unit_;
    const std::int64_t guess = std::max(planned, smallest);
    Probe largest;
    LargestFit found = find_largest_fit(guess, std::max(2 * guess, guess + 2), [&](std::int64_t units) {
      if (units < smallest) {
        return true;
      }
      if (study_.interrupted()) {
        throw std::runtime_error("the run was interrupted");
      }
      study_.report(fmt::format("does batch {} fit {}? {}", units * unit_, format_bytes(limit_.cap_bytes),
                                series_.label));
      const Probe probe = try_batch(units * unit_, units == planned);
      if (probe.fits) {
        largest = probe;
      }
      return probe.fits;
    });
    if (found.size < smallest) {
      found.size = 0;
    }
    LimitTrial proof{.not_tried = "",
                     .largest_batch = found.size * unit_,
                     .refused_batch = std::nullopt,
                     .probes = found.asked,
                     .tracked_bytes = largest.tracked,
                     .ran_a_step = largest.ran};
    if (found.bounded) {
      proof.refused_batch = (found.size + 1) * unit_;
    }
    return proof;
  }

  Probe try_batch(std::int64_t batch, bool run) {
    tried_batch_ = batch;
    WorkloadSpec spec = series_.first->spec;
    spec.batch = batch;
    Probe probe;
    study_.device.memory().reset_peak();
    try {
      const auto workload = study_.request.workload->configure(spec)->make(study_.device);
      probe.fits = true;
      // Everything is allocated by now: a step proves the rest, where there is time for it.
      if (run && expected_ns(batch) < 0.25 * study_.left_ns()) {
        study_.device.time([&] { workload->step(); });
        probe.ran = true;
      }
    } catch (const OutOfMemory&) {
      probe.fits = false;
    } catch (const Unsupported&) {
      probe.fits = false;
    }
    probe.tracked = study_.device.memory().peak();
    return probe;
  }

  double expected_ns(std::int64_t batch) const {
    return series_.largest == nullptr ? std::numeric_limits<double>::infinity()
                                      : series_.largest->stats.median_ns * static_cast<double>(batch) /
                                            static_cast<double>(series_.largest_point->spec.batch);
  }

  SweepStudy& study_;
  const Limit& limit_;
  const StudiedSeries& series_;
  std::int64_t unit_;
  std::int64_t tried_batch_ = 0;  // the last one
  std::string lost_;
};

}  // namespace

std::vector<StudiedSeries> studied_series(const SweepStudy& study) {
  std::vector<StudiedSeries> all;
  std::map<std::string, const MeasuredPoint*> measured;
  for (const MeasuredPoint& point : study.document.benchmarks) {
    measured[point.name] = &point;
  }
  for (const SweepPoint& point : study.plan.points) {
    const std::string label = memory_label(*params_as<BatchParams>(point), study.plan.axes);
    if (all.empty() || all.back().label != label) {
      all.push_back({.label = label, .first = &point});
    }
    if (const auto at = measured.find(point.name); at != measured.end()) {
      all.back().largest = at->second;
      all.back().largest_point = &point;
    }
  }
  return all;
}

std::optional<StepMemory> plan_step_memory(const SweepStudy& study, const std::vector<StudiedSeries>& all) {
  const StudiedSeries* shown = nullptr;
  for (const StudiedSeries& series : all) {
    const bool trains = series.first->spec.mode == "train";
    if (series.largest != nullptr && (shown == nullptr || (trains && shown->first->spec.mode != "train"))) {
      shown = &series;
    }
  }
  if (shown == nullptr) {
    return std::nullopt;
  }
  const ConfiguredWorkload& workload = *shown->largest_point->workload;
  StepMemory memory{.label = shown->label,
                    .point = shown->largest->name,
                    .batch = shown->largest_point->spec.batch,
                    .reserved_bytes = workload.plan(study.device).in_step.total(),
                    .moments = workload.timeline(study.device)};
  return memory.moments.empty() ? std::nullopt : std::optional(std::move(memory));
}

void prove_limits(SweepStudy& study, const std::vector<StudiedSeries>& all, const MemoryState& before,
                  MemoryState& state) {
  for (Limit& limit : state.limits) {
    if (study.interrupted()) {
      return;
    }
    const auto series = std::ranges::find(all, limit.label, &StudiedSeries::label);
    if (series == all.end()) {
      continue;
    }
    const auto tried = std::ranges::find_if(before.limits, [&](const Limit& other) {
      return other.proof && other.label == limit.label && other.cap_bytes == limit.cap_bytes;
    });
    if (tried != before.limits.end()) {
      limit.proof = tried->proof;
      continue;
    }
    LimitProver prover(study, limit, *series);
    limit.proof = prover.prove();
    if (!prover.lost().empty()) {  // this process can try nothing else
      study.lost[fmt::format("{} within {} B", limit.label, limit.cap_bytes)] = prover.lost();
      study.save();
      throw DeviceLost(prover.lost());
    }
    study.save();
  }
}

}  // namespace bench::sweeps
