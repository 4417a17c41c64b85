// What the workers sweep claims: how many workers, what they cost, what limits, how sure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/workers/knee.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/setup.h"
#include "sweeps/workers/simulated.h"

namespace bench::sweeps {

// What findings and tables are made of.
struct Evidence {
  LoaderSetup setup;
  LoaderPoints points;
  std::optional<Profile> profile;
  std::optional<Simulated> simulated;
  double host_memory_bytes = 0;  // 0: not known

  std::optional<Knee> measured_knee() const;
  // With the counts of the measured points only, or all.
  std::optional<Knee> simulated_knee(bool measured_counts_only) const;
  const SimulatedPoint* simulated_at(std::int64_t workers) const;
};

std::vector<Finding> workers_findings(const Evidence& evidence);

std::optional<Finding> knee_finding(const Evidence& evidence);

std::string workers_text(std::int64_t workers);  // "no workers", "1 worker", "4 workers"
std::string images_text(double images_per_s);    // "412 images/s"
std::string au_text(const Estimate& au);         // "0.97 ±0.02"
std::vector<std::string> names_of(const std::vector<LoaderPoint>& points);

}  // namespace bench::sweeps
