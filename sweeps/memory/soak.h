// A long run of each series' largest batch, with the memory sampled along: does it grow from step to step?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "bench/stats/growth.h"
#include "bench/sweep.h"
#include "sweeps/memory/plan.h"

namespace bench::sweeps {

struct Soak {
  std::string label{};  // of the series
  std::string point{};
  std::int64_t batch = 0;
  std::int64_t wanted_steps = 0;
  std::int64_t done_steps = 0;
  std::vector<MemorySample> seen{};       // by the system
  std::vector<MemorySample> tracked{};    // at the same steps
  std::optional<std::string> ended_by{};  // an error, or a making that had no time
};

// The file's "soak". Throws UsageError.
Json written_value(const Soak& soak);
void read_value(const Field& field, Soak& soak);

// --soak; 0: none. Throws UsageError.
std::int64_t soak_steps(const SweepRequest& request);

// Adds a soak of each series and saves the study after it. Those that `before`, of the process that lost the
// device, holds are not repeated. If the device is lost, the last soak records that and DeviceLost passes.
void soak_all(SweepStudy& study, const std::vector<StudiedSeries>& all, std::int64_t steps,
              const std::vector<Soak>& before, std::vector<Soak>& soaks);

}  // namespace bench::sweeps
