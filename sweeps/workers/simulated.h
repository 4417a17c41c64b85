// The simulator's answers: every worker count, other cores, required throughputs of GPUs elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/json.h"
#include "bench/stats/estimate.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

// A limit: workers with a core to each, of which each loads less than half of what it does alone.
inline constexpr const char* kSharedByWorkers = "storage or transport";

// Changes to a profile before it is simulated; the rest stays as measured.
struct SimulationRequest {
  std::vector<std::int64_t> workers{};  // empty: a choice around the cores
  std::optional<double> cores{};
  std::optional<std::int64_t> prefetch{};
  std::optional<loader::Order> order{};
  int gpus = 1;  // they share the host; each has its own workers
  std::vector<RequiredThroughput> required{};
  std::optional<std::int64_t> step_ns{};  // another consumer, elsewhere
  std::string consumer{};                 // its name
  std::optional<loader::Storage> storage{};
  std::uint64_t seed = 1;
};

struct SimulatedPoint {
  std::int64_t workers = 0;           // of each GPU
  double samples_per_s = 0;           // of all GPUs
  double au = 0;                      // divided by that of a loader that does nothing
  std::optional<Interval> au_ci95{};  // of what the profile's plausible laws give; none without them
  double stall_p50_ns = 0;
  double stall_p99_ns = 0;
  double computing_workers = 0;
  double worker_busy = 0;
  // "consumer", "workers", "cores", "storage", "copy", "order", "prefetch", "taking"
  std::string limited_by{};
  std::optional<double> held_out_au{};  // by a profile without this count; none at the law's first

  // As it is printed: without an interval that two digits do not show.
  Estimate printed_au() const {
    constexpr double kShown = 0.005;
    const bool wide = au_ci95 && au_ci95->high - au_ci95->low >= kShown;
    return {.value = au, .ci95 = wide ? au_ci95 : std::nullopt};
  }
};

struct SimulatedRequirement {
  RequiredThroughput required{};
  int gpus = 1;
  std::optional<std::int64_t> workers{};  // a GPU, for 95 % of it; none where the host cannot
  double au = 0;                          // the part of it that is delivered, with these workers or at best
  // That the loader and the copies deliver to all GPUs; where that is less than 95 % of what they take, what
  // they get.
  double max_samples_per_s = 0;
  std::string limited_by{};
};

struct SimulatedPrefetch {
  std::int64_t prefetch = 0;
  double au = 0;
};

struct SimulatedTimeline {  // of a few steps
  std::int64_t workers = 0;
  std::vector<simulator::TimelineEntry> entries{};
};

struct Simulated {
  std::uint64_t seed = 1;
  double cores = 0;
  double measured_cores = 0;
  std::int64_t prefetch = 0;
  loader::Order order = loader::Order::in_order;
  int gpus = 1;
  std::vector<SimulatedPoint> points{};
  std::vector<SimulatedRequirement> requirements{};
  std::int64_t knee_workers = 0;                // the smallest count with 95 % of the best AU
  std::vector<SimulatedPrefetch> prefetches{};  // with the knee's workers, as the time line
  SimulatedTimeline timeline{};

  const SimulatedPoint* at(std::int64_t workers) const;  // null where that count was not simulated
};

// Sets how many steps are simulated: enough for a steady state, few enough for milliseconds.
void set_length(simulator::Pipeline& pipeline);
// One worker count, with what limits it.
SimulatedPoint simulate_point(simulator::Pipeline pipeline);

// The knee of the simulated AU; none for fewer than two counts.
std::optional<Knee> find_knee(std::span<const SimulatedPoint> points);

// The counts that the intervals of AU allow for the knee; none where a point has no interval.
std::optional<Interval> knee_range(std::span<const SimulatedPoint> points);

Simulated simulate(const Profile& profile, const SimulationRequest& request);
// After a measured run: each measured count is also simulated from a profile without it, for the error.
Simulated simulate_measured(const LoaderPoints& points, const LoaderSetup& setup, const Profile& profile);
// With the consumer and the storage of the request. Throws UsageError where the profile does not have enough
// for it.
Profile changed_for(Profile profile, const SimulationRequest& request);

// The file's "simulated".
Json to_json(const Simulated& simulated);
std::optional<Simulated> read_simulated(const Json& sweep);  // throws UsageError

}  // namespace bench::sweeps
