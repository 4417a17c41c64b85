// The simulator put to the sweep's questions: every worker count, other cores, other consumers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

// A consumer that takes images at this rate when they are there: a GPU that is not here.
struct Demand {
  std::string name;
  double images_per_s = 0;
  std::string source;  // "given", or the file it was read from
};

struct WhatIf {
  std::vector<std::int64_t> workers;  // empty: a choice around the cores
  std::optional<int> cores;           // as measured where not given
  std::int64_t prefetch = 0;          // 0: as measured
  std::string order;                  // empty: as measured
  int gpus = 1;                       // share the host; each has its own workers
  std::vector<Demand> demands;
  double measured_rate = 0;             // images a second, the most that was seen of this host; 0: none was
  std::optional<std::int64_t> step_ns;  // another consumer, elsewhere; its batches are as measured
  std::string consumer;                 // its name
  std::optional<simulator::Storage> storage;  // as measured where not given
  std::uint64_t seed = 1;
};

struct SimulatedPoint {
  std::int64_t workers = 0;  // of each GPU
  double images_per_s = 0;   // of all GPUs
  double au = 0;             // divided by that of a loader that does nothing
  double stall_p50_ns = 0;
  double stall_p99_ns = 0;
  double computing_workers = 0;
  double worker_busy = 0;
  std::string limited_by;  // "consumer", "workers", "cores", "storage", "copy", "order", "prefetch", "wake"
  std::optional<double> held_out_au;  // by a profile without this count; none at the law's first
};

struct SimulatedDemand {
  Demand demand;
  int gpus = 1;
  std::optional<std::int64_t> workers;  // a GPU, for an AU of 0.95; none where the host cannot
  double au = 0;                        // what it gets of what it demands, with them or at best
  double tops_out = 0;                  // images a second of the loader and the copies alone, at best
  std::string limited_by;
};

// AU with so many workers, and with as many that do not give way to the consumer's thread; both from what a
// thread beside the loader alone noted.
struct SimulatedUnyielding {
  std::int64_t workers = 0;
  double au = 0;
  double au_unyielding = 0;
};

// Of --workers, and of what is simulated.
inline constexpr std::int64_t kMostWorkers = 1000;
// An AU that counts as fed.
inline constexpr double kFed = 0.95;

// The profile's pipeline with so many workers, changed as asked.
simulator::Pipeline asked(const Profile& profile, const WhatIf& what_if, std::int64_t workers);
// As long as a steady state takes.
SimulatedPoint simulate_point(const Profile& profile, const simulator::Pipeline& asked_for);
// A few steps, as the result file keeps them.
Json timeline_of(simulator::Pipeline pipeline);
SimulatedDemand simulate_demand(const Profile& profile, const WhatIf& what_if, const Demand& demand);

// At each measured count but 0; empty where nobody noted how late a thread gets a core beside either.
std::vector<SimulatedUnyielding> simulate_unyielding(const LoaderPoints& points, const Profile& profile,
                                                     const WhatIf& what_if);

// After every visit: document.sweep["measured"], what the notes of the pool's points amount to, and
// ["profile"] and
// ["simulated"], once there is enough to make them of.
void note_simulation(ResultDocument& document);

// `--simulate`: no device and no data; from the profile of an earlier sweep into a result without measured
// points.
void simulate_profile(Profile profile, const WhatIf& what_if, ResultDocument& document);

// What document.sweep["simulated"] holds.
struct Simulated {
  std::vector<SimulatedPoint> points;
  std::vector<SimulatedDemand> demands;
  std::vector<SimulatedUnyielding> unyielding;
  std::vector<std::pair<std::int64_t, double>> prefetches;  // and the AU with each, with the knee's workers
  std::int64_t knee_workers = 0;                            // that those were simulated with
  double cores = 0;
  double measured_cores = 0;
  int gpus = 1;
  std::int64_t prefetch = 0;
  std::string order;
};
std::optional<Simulated> simulated_of(const ResultDocument& document);
// nullopt where there is none, or it cannot be read.
std::optional<Profile> profile_in(const ResultDocument& document);

}  // namespace bench::sweeps
