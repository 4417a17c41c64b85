#include "sweeps/memory/prove.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/search.h"
#include "bench/measure/units.h"
#include "sweeps/memory/limits.h"
#include "sweeps/memory/soak.h"
#include "sweeps/memory/studied.h"

namespace bench::sweeps {
namespace {

// Puts the device's cap back, whatever happens.
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

class Prover {
 public:
  explicit Prover(SweepStudy& study) : study_(study), series_(studied_series(study)) {}

  void prove_limits() {
    for (Json& limit : study_.document.sweep["limits"]) {
      if (study_.interrupted()) {
        return;
      }
      const auto series =
          std::ranges::find(series_, limit["label"].get<std::string>(), &StudiedSeries::label);
      if (series == series_.end()) {
        continue;
      }
      if (const Json* const before = proof_before(limit)) {
        limit["proof"] = *before;
        continue;
      }
      tried_batch_ = 0;
      try {
        limit["proof"] = proof_of(limit, *series);
      } catch (const DeviceLost& error) {  // nothing else can be tried by this process
        limit["proof"] = {
            {"not_tried", fmt::format("the device was lost at batch {} ({})", tried_batch_, error.what())}};
        study_.note_lost(fmt::format("{} within {} B", series->label, limit["cap_bytes"].get<std::int64_t>()),
                         error.what());
        study_.save();
        throw;
      }
      study_.save();
    }
  }

  void note_step_memory() {
    const StudiedSeries* shown = nullptr;
    for (const StudiedSeries& series : series_) {
      const bool trains = series.first->spec.mode == "train";
      if (series.largest != nullptr && (shown == nullptr || (trains && shown->first->spec.mode != "train"))) {
        shown = &series;
      }
    }
    if (shown == nullptr || !type().timeline) {
      return;
    }
    Json memory = {{"label", shown->label},
                   {"point", shown->largest->name},
                   {"batch", shown->largest_point->spec.batch},
                   {"reserved_bytes", type().plan(shown->largest_point->spec, study_.device).in_step.total()},
                   {"names", Json::array()},
                   {"bytes", Json::object()}};
    for (const MemoryMoment& moment : type().timeline(shown->largest_point->spec, study_.device)) {
      memory["names"].push_back(moment.name);
      for (const MemoryCategory category : kMemoryCategories) {
        memory["bytes"][std::string(name_of(category))].push_back(moment.bytes[category]);
      }
    }
    study_.document.sweep["step_memory"] = std::move(memory);
    study_.save();
  }

  const std::vector<StudiedSeries>& series() const { return series_; }

 private:
  const WorkloadType& type() const { return *study_.request.workload; }

  // What the process before this one found, or that it lost the device over it.
  const Json* proof_before(const Json& limit) const {
    if (study_.before.is_object() && study_.before.contains("limits")) {
      for (const Json& other : study_.before["limits"]) {
        if (other.is_object() && other.contains("proof") && other.value("label", Json()) == limit["label"] &&
            other.value("cap_bytes", Json()) == limit["cap_bytes"]) {
          return &other["proof"];
        }
      }
    }
    return nullptr;
  }

  Json proof_of(const Json& limit, const StudiedSeries& series) {
    const auto cap = limit["cap_bytes"].get<std::int64_t>();
    const std::int64_t unit = batch_unit(series.first->spec);
    const std::int64_t planned = limit["largest_batch"].get<std::int64_t>() / unit;
    const std::int64_t available = study_.device.info().available_bytes;
    if (limit.value("largest_bytes", std::int64_t{0}) > available / 10 * 9) {
      return {{"not_tried", fmt::format("this machine has {} free", format_bytes(available))}};
    }
    if (study_.left_ns() <= 0) {
      return {{"not_tried", "the time budget had ended"}};
    }
    const CapForNow smaller(study_.device, cap);
    Tried largest;
    LargestFit found;
    try {
      // From the smallest batch that can run on; what is below cannot be tried.
      const std::int64_t smallest = limit["smallest_batch"].get<std::int64_t>() / unit;
      const std::int64_t guess = std::max(planned, smallest);
      found = find_largest_fit(guess, std::max(2 * guess, guess + 2), [&](std::int64_t units) {
        if (units < smallest) {
          return true;
        }
        study_.report(fmt::format("does batch {} fit {}? {}", units * unit, format_bytes(cap), series.label));
        const Tried tried = try_batch(series, units * unit, units == planned);
        if (tried.fits) {
          largest = tried;
        }
        return tried.fits;
      });
      if (found.size < smallest) {
        found.size = 0;
      }
    } catch (const UsageError&) {
      throw;
    } catch (const DeviceLost&) {
      throw;
    } catch (const std::exception& error) {
      return {{"not_tried", std::string("it failed: ") + error.what()}};
    }
    Json proof = {{"largest_batch", found.size * unit},
                  {"probes", found.asked},
                  {"tracked_bytes", largest.tracked},
                  {"ran_a_step", largest.ran}};
    if (found.bounded) {
      proof["refused_batch"] = (found.size + 1) * unit;
    }
    return proof;
  }

  struct Tried {
    bool fits = false;
    bool ran = false;
    std::int64_t tracked = 0;  // bytes at the peak
  };

  Tried try_batch(const StudiedSeries& series, std::int64_t batch, bool run) {
    tried_batch_ = batch;
    WorkloadSpec spec = series.first->spec;
    spec.batch = batch;
    Tried tried;
    study_.device.memory().reset_peak();
    try {
      const auto workload = type().make(spec, study_.device);
      tried.fits = true;
      // Everything is allocated by now: a step proves the rest, where there is time for it.
      if (run && expected_ns(series, batch) < 0.25 * study_.left_ns()) {
        study_.device.time([&] { workload->step(); });
        tried.ran = true;
      }
    } catch (const OutOfMemory&) {
      tried.fits = false;
    }
    tried.tracked = study_.device.memory().peak();
    return tried;
  }

  static double expected_ns(const StudiedSeries& series, std::int64_t batch) {
    if (series.largest == nullptr) {
      return std::numeric_limits<double>::infinity();
    }
    return series.largest->stats.median_ns * static_cast<double>(batch) /
           static_cast<double>(series.largest_point->spec.batch);
  }

  SweepStudy& study_;
  std::int64_t tried_batch_ = 0;  // the last one
  std::vector<StudiedSeries> series_;
};

}  // namespace

void prove_limits(SweepStudy& study) {
  Prover prover(study);
  prover.note_step_memory();
  const std::int64_t steps = soak_steps(study.request);
  if (steps > 0) {
    soak(study, prover.series(), steps);
  }
  prover.prove_limits();
}

}  // namespace bench::sweeps
