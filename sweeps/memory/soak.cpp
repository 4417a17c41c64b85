#include "sweeps/memory/soak.h"

#include <charconv>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"

namespace bench::sweeps {
namespace {

constexpr std::size_t kMostSamples = 400;  // of memory
constexpr std::int64_t kMostSteps = 1'000'000'000;

// Of the process before this one, which lost the device later on; nullptr where there is none.
const Json* soaked_before(const SweepStudy& study, const std::string& point) {
  if (study.before.is_object() && study.before.contains("soak")) {
    for (const Json& soak : study.before["soak"]) {
      if (soak.is_object() && soak.value("point", Json()) == point) {
        return &soak;
      }
    }
  }
  return nullptr;
}

// Fills `soak` as it goes on: what there is when an error ends it is kept.
void run_steps(SweepStudy& study, const StudiedSeries& series, double share_ns, Json& soak) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed_ns = [start] {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  };
  const auto steps = soak["wanted_steps"].get<std::int64_t>();
  auto& samples = soak["samples"].get_ref<Json::array_t&>();
  const auto sample = [&](std::int64_t step) {
    samples.push_back({step, study.device.driver_used(), study.device.memory().live().total()});
  };
  const auto workload = study.request.workload->make(series.largest_point->spec, study.device);
  workload->step();
  study.device.synchronize();
  sample(0);
  std::int64_t done = 0;
  std::int64_t stride = 1;  // nobody knows beforehand how many steps there will be time for
  while (done < steps && elapsed_ns() < share_ns && !study.interrupted()) {
    study.device.time([&] { workload->step(); });
    soak["done_steps"] = ++done;
    if (done % stride != 0) {
      continue;
    }
    sample(done);
    study.report(fmt::format("step {} of {}: {}", done, steps, series.label));
    if (samples.size() > kMostSamples) {
      stride *= 2;
      std::erase_if(samples, [&](const Json& old) { return old[0].get<std::int64_t>() % stride != 0; });
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
      (steps > 0 && steps < 25)) {
    throw UsageError(
        fmt::format("--soak: {} is not a number of steps; accepted are 0 and 25 to {}: fewer "
                    "steps cannot tell growth from noise",
                    quote(text), kMostSteps));
  }
  return steps;
}

void soak(SweepStudy& study, const std::vector<StudiedSeries>& all, std::int64_t steps) {
  Json soaks = Json::array();
  const auto keep = [&](const Json& soak) {
    soaks.push_back(soak);
    study.document.sweep["soak"] = soaks;
    study.save();
  };
  std::size_t left = all.size();
  for (const StudiedSeries& series : all) {
    const double share_ns = study.left_ns() / static_cast<double>(left--);
    if (series.largest == nullptr || study.interrupted()) {
      continue;
    }
    if (const Json* const before = soaked_before(study, series.largest->name)) {
      keep(*before);
      continue;
    }
    Json soak = {{"label", series.label},
                 {"point", series.largest->name},
                 {"batch", series.largest_point->spec.batch},
                 {"wanted_steps", steps},
                 {"done_steps", 0},
                 {"samples", Json::array()}};
    try {
      run_steps(study, series, share_ns, soak);
    } catch (const DeviceLost& error) {
      soak["ended_by"] = fmt::format("the device was lost ({})", error.what());
      study.note_lost("soak of " + series.largest->name, error.what());
      keep(soak);
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {
      soak["ended_by"] = error.what();
    }
    keep(soak);
  }
}

}  // namespace bench::sweeps
