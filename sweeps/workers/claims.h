// One sentence and its numbers for each finding of the workers sweep.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/workers/knee.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/what_if.h"

namespace bench::sweeps {

// What claims are made of; members that there is nothing for are empty.
struct LoaderEvidence {
  LoaderPoints points;
  std::optional<Simulated> simulated;
  std::optional<Profile> profile;

  std::vector<WorkersValue> measured_au() const;
  std::vector<WorkersValue> measured_rates() const;
  std::optional<Ceiling> measured_knee() const { return find_knee(measured_au()); }
  // With the counts of the measured points only, or all.
  std::optional<Ceiling> simulated_knee(bool measured_counts_only) const;
  const SimulatedPoint* simulated_at(std::int64_t workers) const;
};

// A consumer that computes so much longer beside workers is slowed down by them.
inline constexpr double kSlower = 1.05;

LoaderEvidence evidence_of(const ResultDocument& document);

Finding claim_of(std::string name, std::string unit, std::vector<std::string> evidence = {});
std::string workers_text(std::int64_t workers);  // "1 worker", "4 workers", "no workers"
std::string images_text(double images_per_s);    // "412 images/s"
std::string points_text(double share);           // "1.2 points" of a difference of AU
std::string stage_text(std::string_view stage);  // "hand-off"

double total(const std::map<std::string, double>& stages);
std::pair<std::string, double> largest(const std::map<std::string, double>& stages);  // stage and time

// The knee: measured, simulated, and how far apart.
std::optional<Finding> claim_starvation(const LoaderEvidence& evidence);
std::optional<Finding> claim_knee(const LoaderEvidence& evidence);
std::optional<Finding> claim_simulated_knee(const LoaderEvidence& evidence);
std::optional<Finding> claim_simulation_error(const LoaderEvidence& evidence);
std::optional<Finding> claim_plateau(const LoaderEvidence& evidence);
std::optional<Finding> claim_harm(const LoaderEvidence& evidence);

// The loader and what it costs.
std::optional<Finding> claim_law(const LoaderEvidence& evidence);
std::optional<Finding> claim_stages(const LoaderEvidence& evidence);
std::optional<Finding> claim_slowdown(const LoaderEvidence& evidence);
std::optional<Finding> claim_bad_files(const ResultDocument& document, const LoaderEvidence& evidence);

// What to do.
std::optional<Finding> claim_recommended(const ResultDocument& document, const LoaderEvidence& evidence);
// Of ready data from pinned and from pageable memory, where both were measured: on a device behind a bus.
std::optional<Finding> claim_pinning(const LoaderEvidence& evidence);
std::optional<Finding> claim_nice(const ResultDocument& document, const LoaderEvidence& evidence);
std::vector<Finding> claim_demands(const LoaderEvidence& evidence);

// Why the loader is no faster with `workers`, from its measured point or the profile alone: "storage",
// "decode", "memory", "hand_off", "cores", …, and how it shows.
struct LoaderLimit {
  std::string what;
  std::string why;
};
LoaderLimit loader_limit(const LoaderEvidence& evidence, std::int64_t workers);

}  // namespace bench::sweeps
