#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {

namespace {

// Of one window no interval can be told: nothing is proved by it.
Measured known_at_least(Measured measured) {
  if (measured.ci95.low == measured.ci95.high) {
    measured.ci95 = {0, 2 * measured.value};
  }
  return measured;
}

}  // namespace

std::vector<WorkersValue> LoaderEvidence::measured_au() const {
  std::vector<WorkersValue> values;
  for (const LoaderPoint& point : points.pool) {
    if (point.au) {
      values.push_back({point.workers, known_at_least(*point.au)});
    }
  }
  return values;
}

std::vector<WorkersValue> LoaderEvidence::measured_rates() const {
  std::vector<WorkersValue> values;
  for (const LoaderPoint& point : points.pool) {
    values.push_back({point.workers, known_at_least(point.images_per_s)});
  }
  return values;
}

std::optional<Ceiling> LoaderEvidence::simulated_knee(bool measured_counts_only) const {
  std::vector<WorkersValue> values;
  if (simulated) {
    for (const SimulatedPoint& point : simulated->points) {
      if (!measured_counts_only || points.at(point.workers) != nullptr) {
        values.push_back({point.workers, {point.au, {point.au, point.au}}});
      }
    }
  }
  return find_knee(values);
}

const SimulatedPoint* LoaderEvidence::simulated_at(std::int64_t workers) const {
  if (!simulated) {
    return nullptr;
  }
  const auto found = std::ranges::find(simulated->points, workers, &SimulatedPoint::workers);
  return found == simulated->points.end() ? nullptr : &*found;
}

LoaderEvidence evidence_of(const ResultDocument& document) {
  return {.points = loader_points(document),
          .simulated = simulated_of(document),
          .profile = profile_in(document)};
}

Finding claim_of(std::string name, std::string unit, std::vector<std::string> evidence) {
  Finding finding;
  finding.name = std::move(name);
  finding.unit = std::move(unit);
  finding.evidence = std::move(evidence);
  return finding;
}

std::string workers_text(std::int64_t workers) {
  return workers == 0 ? "no workers" : fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

std::string images_text(double images_per_s) {
  return fmt::format("{} images/s", format_number(images_per_s));
}

std::string points_text(double share) {
  return fmt::format("{:.1f} points", 100 * std::abs(share));
}

double total(const std::map<std::string, double>& stages) {
  double sum = 0;
  for (const auto& [stage, time] : stages) {
    sum += time;
  }
  return sum;
}

std::pair<std::string, double> largest(const std::map<std::string, double>& stages) {
  std::pair<std::string, double> most{"", 0};
  for (const auto& [stage, time] : stages) {
    most = time > most.second ? std::pair(stage, time) : most;
  }
  return most;
}

std::string stage_text(std::string_view stage) {
  return stage == "hand_off" ? "hand-off" : std::string(stage);
}

}  // namespace bench::sweeps
