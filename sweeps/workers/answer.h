// What a run of the workers sweep answers, decided once from what it measured and simulated; findings, tables
// and charts put it into words.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/stats/saturation.h"
#include "bench/sweep.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/record.h"
#include "sweeps/workers/simulated.h"

namespace bench::sweeps {

// The answer rests on these.
struct Evidence {
  LoaderSetup setup;
  LoaderPoints points;
  std::vector<std::int64_t> not_measured;  // worker counts that were asked for
  std::optional<Profile> profile;
  std::optional<Simulated> simulated;
  std::string no_ready_data{};    // why its point was not measured; empty: it was
  double host_memory_bytes = 0;   // 0: not known
  bool of_predicted_gpu = false;  // which takes the batches, and is not here

  const SimulatedPoint* simulated_at(std::int64_t workers) const {
    return simulated ? simulated->at(workers) : nullptr;
  }
  // The profile is of a loader of the user's.
  bool of_own_loader() const { return profile && !profile->loader.empty(); }
};

// The knee of the measured AU over the counts below `end`; none for fewer than two.
std::optional<Knee> measured_knee(std::span<const LoaderPoint> pool,
                                  std::int64_t end = std::numeric_limits<std::int64_t>::max());

// The smallest count above the best one from which on samples a second are significantly lower: interval
// below interval, and by 2 % at least. By growing workers.
std::optional<std::int64_t> find_harm(std::span<const ThroughputPoint> samples_per_s);

// More workers than the best count, and significantly fewer samples a second.
struct Harm {
  std::int64_t from = 0;  // this count and all above it
  const LoaderPoint* best = nullptr;
};

// Workers take the cores that the consumer computes on, and a step without them is not measurably longer.
struct StepWithoutWorkers {
  double step_ns = 0;
  bool is_measured = false;           // else computing and loading in turn, by the times of both
  const LoaderPoint* with = nullptr;  // the workers that would be advised
};

// How many workers, and what they cost.
struct Recommendation {
  enum class Basis {
    knee,       // measured, and clear
    noise,      // the measured intervals allow several counts: the largest of them is safe
    chosen,     // they do, and the simulation chose among them
    harm,       // no knee was measured, and more workers than these are slower
    single,     // the one count that was measured, against the simulation
    simulated,  // the simulation alone
    cores,      // `without`
  };
  Basis basis = Basis::knee;
  std::int64_t workers = 0;
  Estimate au{};
  std::optional<Knee> knee{};       // measured, where it decided
  std::optional<Interval> range{};  // of the counts that are as good
  bool more_harm = false;           // the next count makes fewer samples a second
  std::optional<StepWithoutWorkers> without{};
  std::int64_t prefetch = 0;
  double slot_bytes = 0;
  double host_bytes = 0;
  double pinned_bytes = 0;
  std::optional<bool> pin{};  // none where the consumer is a time, whose device is not known

  bool feeds() const { return au.value >= kFed; }
  bool is_inconclusive() const {
    return (basis == Basis::single && !feeds()) || (without && !without->is_measured);
  }
  // No number of workers feeds the consumer.
  bool feeds_none() const { return workers == 0 && !feeds() && !more_harm && !without; }
};

struct Starvation {  // with the fewest workers
  const LoaderPoint* fewest = nullptr;
  double lost_ns = 0;  // of a step

  // Its AU is for certain enough, or too low.
  bool is_known() const {
    const Estimate& au = *fewest->au;
    return (au.ci95 || !fewest->few_rounds) && (au.low() >= kFed || au.high() < kFed);
  }
};

struct SimulationError {  // of counts that were simulated from the others
  struct Row {
    const LoaderPoint* measured = nullptr;
    const SimulatedPoint* simulated = nullptr;
    double points = 0;  // of AU: percent, too high
  };
  std::vector<Row> rows{};
  Row worst{};
  double mean = 0;
};

// Why the loader is no faster with so many workers, from its measured point or the profile alone.
struct LoaderLimit {
  std::string name{};  // "storage", "copy", "decode", "memory", "hand_off", "workers", "order", …
  std::string why{};
  std::string remedy{};  // empty: none is known
};

struct Plateau {  // the most samples a second
  Estimate samples_per_s{};
  std::int64_t workers = 0;
  const LoaderPoint* measured = nullptr;  // null: it is simulated
  LoaderLimit limit{};
};

struct Pinning {  // ready data from both kinds of host memory
  const LoaderPoint* pinned = nullptr;
  const LoaderPoint* pageable = nullptr;
  Estimate speedup{};
  bool pays = false;  // significantly, and by what is worth the trouble
};

struct Slowdown {  // of the consumer's computing
  const LoaderPoint* ready = nullptr;
  const LoaderPoint* worst = nullptr;

  double of(const LoaderPoint& point) const { return point.compute_ns / ready->compute_ns - 1; }
};

// Whether this host feeds a consumer elsewhere: with at least 95 % of what it takes.
struct DemandAnswer {
  enum class Verdict { fed, not_fed, undecided };
  Verdict verdict = Verdict::undecided;
  RequiredThroughput required{};
  int gpus = 1;
  bool is_measured = false;  // this consumer was measured, and is fed
  std::int64_t workers = 0;  // where it is fed, for each GPU
  Estimate au{};             // with them, or the most that it gets
  // Samples a second that the loader delivers to all GPUs; none where too little was measured. The interval
  // holds the highest rate that was measured too.
  std::optional<Estimate> at_most{};
  std::string limited_by{};  // as SimulatedRequirement's
  double lost_cores = 0;     // that other processes took
  double on_idle_per_s = 0;  // at_most with those cores
  std::int64_t prefetch = 0;
};

// Each is none where the evidence is missing. Refers to the evidence, which has to outlive it.
struct WorkersAnswer {
  std::vector<DemandAnswer> demands{};
  std::optional<Recommendation> recommendation{};
  std::optional<Starvation> starvation{};
  std::optional<Knee> knee{};                       // measured
  std::optional<std::int64_t> knee_of_simulated{};  // among the measured counts
  std::optional<Knee> simulated_knee{};             // among all counts
  std::optional<Harm> harm{};
  std::optional<SimulationError> simulation_error{};
  std::optional<Plateau> plateau{};
  std::optional<Pinning> pinning{};
  std::optional<Slowdown> slowdown{};
};
WorkersAnswer answer_of(const Evidence& evidence);

std::vector<Finding> workers_findings(const Evidence& evidence);
std::vector<TextTable> workers_tables(const Evidence& evidence);
// Required throughputs first, then the recommendation; how sure it is last. Of a file's findings too.
void choose_workers_headlines(std::vector<Finding>& findings);

}  // namespace bench::sweeps
