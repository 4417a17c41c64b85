#include "sweeps/memory/prove.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/search.h"
#include "bench/measure/units.h"
#include "sweeps/memory/label.h"
#include "sweeps/memory/limits.h"

namespace bench::sweeps {
namespace {

constexpr std::size_t kMostSamples = 400;  // of memory, of a soak
constexpr std::int64_t kMostSteps = 1'000'000'000;

struct Series {
  std::string label;
  const SweepPoint* first = nullptr;
  const MeasuredPoint* largest = nullptr;  // measured; nullptr where none was
  const SweepPoint* largest_point = nullptr;
};

std::vector<Series> series_of(const SweepStudy& study) {
  std::vector<Series> all;
  std::map<std::string, const MeasuredPoint*> measured;
  for (const MeasuredPoint& point : study.document.benchmarks) {
    measured[point.name] = &point;
  }
  for (const SweepPoint& point : study.plan.points) {
    const std::string label = memory_label(point.params, study.plan.axes);
    if (all.empty() || all.back().label != label) {
      all.push_back({label, &point});
    }
    if (const auto at = measured.find(point.name); at != measured.end()) {
      all.back().largest = at->second;
      all.back().largest_point = &point;
    }
  }
  return all;
}

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
  explicit Prover(SweepStudy& study) : study_(study), series_(series_of(study)) {}

  void prove_limits() {
    for (Json& limit : study_.document.sweep["limits"]) {
      if (study_.interrupted()) {
        return;
      }
      const auto series = std::ranges::find(series_, limit["label"].get<std::string>(), &Series::label);
      if (series != series_.end()) {
        limit["proof"] = proof_of(limit, *series);
        study_.save();
      }
    }
  }

  void note_step_memory() {
    const Series* shown = nullptr;
    for (const Series& series : series_) {
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

  void soak(std::int64_t steps) {
    std::size_t left = series_.size();
    for (const Series& series : series_) {
      const double share_ns = study_.left_ns() / static_cast<double>(left--);
      if (series.largest != nullptr && !study_.interrupted()) {
        Json& all = study_.document.sweep["soak"];
        if (!all.is_array()) {
          all = Json::array();
        }
        all.push_back(soaked(series, steps, share_ns));
        study_.save();
      }
    }
  }

 private:
  const WorkloadType& type() const { return *study_.request.workload; }

  Json proof_of(const Json& limit, const Series& series) {
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
    } catch (const DeviceLost&) {  // nothing else can be tried either
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

  Tried try_batch(const Series& series, std::int64_t batch, bool run) {
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

  static double expected_ns(const Series& series, std::int64_t batch) {
    if (series.largest == nullptr) {
      return std::numeric_limits<double>::infinity();
    }
    return series.largest->stats.median_ns * static_cast<double>(batch) /
           static_cast<double>(series.largest_point->spec.batch);
  }

  Json soaked(const Series& series, std::int64_t steps, double share_ns) {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed_ns = [start] {
      return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    };
    const auto workload = type().make(series.largest_point->spec, study_.device);
    workload->step();
    study_.device.synchronize();
    std::vector<Json> samples;
    const auto sample = [&](std::int64_t step) {
      samples.push_back({step, study_.device.driver_used(), study_.device.memory().live().total()});
    };
    sample(0);
    std::int64_t done = 0;
    std::int64_t stride = 1;  // nobody knows beforehand how many steps there will be time for
    while (done < steps && elapsed_ns() < share_ns && !study_.interrupted()) {
      study_.device.time([&] { workload->step(); });
      if (++done % stride != 0) {
        continue;
      }
      sample(done);
      study_.report(fmt::format("step {} of {}: {}", done, steps, series.label));
      if (samples.size() > kMostSamples) {
        stride *= 2;
        std::erase_if(samples, [&](const Json& old) { return old[0].get<std::int64_t>() % stride != 0; });
      }
    }
    return {{"label", series.label},
            {"point", series.largest->name},
            {"batch", series.largest_point->spec.batch},
            {"wanted_steps", steps},
            {"done_steps", done},
            {"samples", samples}};
  }

  SweepStudy& study_;
  std::vector<Series> series_;
};

}  // namespace

std::int64_t soak_steps(const SweepRequest& request) {
  const auto given = request.sweep_options.find("soak");
  if (given == request.sweep_options.end()) {
    return 0;
  }
  const std::string& text = given->second;
  std::int64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (error != std::errc{} || end != text.data() + text.size() || steps < 0 || steps > kMostSteps ||
      (steps > 0 && steps < 25)) {
    throw UsageError(
        fmt::format("--soak: {} is not a number of steps; accepted are 0 and 25 to {}: fewer "
                    "steps cannot tell growth from noise",
                    quote(text), kMostSteps));
  }
  return steps;
}

void prove_limits(SweepStudy& study) {
  Prover prover(study);
  prover.note_step_memory();
  const std::int64_t steps = soak_steps(study.request);
  if (steps > 0) {
    prover.soak(steps);
  }
  prover.prove_limits();
}

}  // namespace bench::sweeps
