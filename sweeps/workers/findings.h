// Findings and tables of the workers sweep: how many workers, what they cost, what limits, how sure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/workers/knee.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/setup.h"
#include "sweeps/workers/simulated.h"

namespace bench::sweeps {

// More workers than the best count, and significantly fewer samples a second.
struct Harm {
  std::int64_t from = 0;  // this count and all above it
  const LoaderPoint* best = nullptr;
};

// Findings and tables rest on these.
struct Evidence {
  LoaderSetup setup;
  LoaderPoints points;
  std::vector<std::int64_t> not_measured;  // worker counts that were asked for
  std::optional<Profile> profile;
  std::optional<Simulated> simulated;
  double host_memory_bytes = 0;  // 0: not known

  // Over the counts below `end`; none for fewer than two.
  std::optional<Knee> measured_knee(std::int64_t end = std::numeric_limits<std::int64_t>::max()) const;
  std::optional<Harm> harm() const;
  // With the counts of the measured points only, or all.
  std::optional<Knee> simulated_knee(bool measured_counts_only) const;
  const SimulatedPoint* simulated_at(std::int64_t workers) const;
  // The profile is of a loader of the user's.
  bool of_own_loader() const { return profile && !profile->loader.empty(); }
};

std::vector<Finding> workers_findings(const Evidence& evidence);
std::vector<TextTable> workers_tables(const Evidence& evidence);
// The recommendation first, how sure it is last. Of a file's findings too.
void choose_workers_headlines(std::vector<Finding>& findings);

// One finding each; none where the evidence is missing.

// How many workers, and what they cost (recommendation.cpp).
std::optional<Finding> claim_recommendation(const Evidence& evidence);
std::optional<Finding> claim_pinning(const Evidence& evidence);

// How the consumer is fed at each count (feeding.cpp).
std::optional<Finding> claim_starvation(const Evidence& evidence);
// Where no worker count was measured.
std::optional<Finding> claim_ready_data(const Evidence& evidence);
std::optional<Finding> claim_knee(const Evidence& evidence);
std::optional<Finding> claim_simulated_knee(const Evidence& evidence);
std::optional<Finding> claim_simulation_error(const Evidence& evidence);
std::optional<Finding> claim_harm(const Evidence& evidence);
std::vector<Finding> claim_requirements(const Evidence& evidence);

// The limit of the loader, and the cost of a sample and of workers (limits.cpp).
std::optional<Finding> claim_plateau(const Evidence& evidence);
std::optional<Finding> claim_stages(const Evidence& evidence);
std::optional<Finding> claim_scaling(const Evidence& evidence);
std::optional<Finding> claim_slowdown(const Evidence& evidence);

std::string workers_text(std::int64_t workers);  // "no workers", "1 worker", "4 workers"
std::string rate_text(double per_s);             // "412 samples/s"
std::string au_text(const Estimate& au);         // "AU 0.97 ± 0.02"
std::vector<std::string> names_of(const std::vector<LoaderPoint>& points);

}  // namespace bench::sweeps
