// The memory sweep's experiments after its points: a long run, and the largest batches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/memory/state.h"

namespace bench::sweeps {

// A series of the sweep, with its largest measured point.
struct StudiedSeries {
  std::string label;
  const SweepPoint* first = nullptr;
  const SweepPoint* largest_point = nullptr;  // nullptr where none was measured
  const MeasuredPoint* largest = nullptr;
};

// In the plan's order. Pointers into the study's plan and document.
std::vector<StudiedSeries> studied_series(const SweepStudy& study);

// Memory over one step: of a training series if there is one. nullopt where no point was measured.
std::optional<StepMemory> plan_step_memory(const SweepStudy& study, const std::vector<StudiedSeries>& all);

// --soak; 0: none. Throws UsageError.
std::int64_t soak_steps(const SweepRequest& request);

// Both fill `state` and save the study while they run. `before` is the state of the process that lost the
// device; its attempts are not repeated. If the device is lost, `state` records that and DeviceLost passes.
void soak_all(SweepStudy& study, const std::vector<StudiedSeries>& all, std::int64_t steps,
              const MemoryState& before, MemoryState& state);
void prove_limits(SweepStudy& study, const std::vector<StudiedSeries>& all, const MemoryState& before,
                  MemoryState& state);

}  // namespace bench::sweeps
