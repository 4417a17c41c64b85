// A long run of each series, with the memory sampled along.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "sweeps/memory/study.h"

namespace bench::sweeps {
namespace {

constexpr std::size_t kMostSoakSamples = 400;  // of memory
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::int64_t kFewestSteps = 25;

void keep_every(std::int64_t stride, std::vector<MemorySample>& samples) {
  std::erase_if(samples, [&](const MemorySample& sample) { return sample.step % stride != 0; });
}

// Fills `soak` as it goes on: an error that ends it leaves what there is.
void run_steps(SweepStudy& study, const StudiedSeries& series, double share_ns, Soak& soak) {
  const auto start = study.clock.now();
  const auto sample = [&] {
    soak.seen.push_back({soak.done_steps, study.device.driver_used()});
    soak.tracked.push_back({soak.done_steps, study.device.memory().live().total()});
  };
  const auto workload = series.largest_point->workload->make(study.device);
  workload->step();
  study.device.synchronize();
  sample();
  std::int64_t stride = 1;  // grows, since the number of steps that there is time for is not known
  while (soak.done_steps < soak.wanted_steps && study.clock.since_ns(start) < share_ns &&
         !study.interrupted()) {
    study.device.time([&] { workload->step(); });
    if (++soak.done_steps % stride != 0) {
      continue;
    }
    sample();
    study.report(fmt::format("step {} of {}: {}", soak.done_steps, soak.wanted_steps, series.label));
    if (soak.seen.size() > kMostSoakSamples) {
      stride *= 2;
      keep_every(stride, soak.seen);
      keep_every(stride, soak.tracked);
    }
  }
}

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
      (steps > 0 && steps < kFewestSteps)) {
    throw UsageError(
        fmt::format("--soak: {} is not a number of steps; accepted are 0 and {} to {}: in fewer steps growth "
                    "does not stand out from noise",
                    quote(text), kFewestSteps, kMostSteps));
  }
  return steps;
}

void soak_all(SweepStudy& study, const std::vector<StudiedSeries>& all, std::int64_t steps,
              const MemoryState& before, MemoryState& state) {
  std::size_t left = all.size();
  for (const StudiedSeries& series : all) {
    const double share_ns = study.left_ns() / static_cast<double>(left--);
    if (series.largest == nullptr || study.interrupted()) {
      continue;
    }
    const auto done = std::ranges::find(before.soaks, series.largest->name, &Soak::point);
    if (done != before.soaks.end()) {
      state.soaks.push_back(*done);
      study.save();
      continue;
    }
    Soak& soak = state.soaks.emplace_back();
    soak.label = series.label;
    soak.point = series.largest->name;
    soak.batch = series.largest_point->spec.batch;
    soak.wanted_steps = steps;
    try {
      run_steps(study, series, share_ns, soak);
    } catch (const DeviceLost& error) {
      soak.ended_by = fmt::format("the device was lost ({})", error.what());
      study.lost["soak of " + series.largest->name] = error.what();
      study.save();
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {
      soak.ended_by = error.what();
    }
    study.save();
  }
}

}  // namespace bench::sweeps
