// The findings of the sweep on a known machine.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sweeps/workers/answer.h"
#include "tests/sweeps/workers/loader_machine.h"

namespace bench::sweeps::testing {

// As of a file that is read back.
inline Evidence evidence_of(const std::vector<Point>& measured, const LoaderSetup& setup) {
  ResultDocument document;
  document.points = measured;
  Evidence evidence;
  evidence.setup = setup;
  evidence.points = loader_points(document.points, setup);
  evidence.profile = measure_profile(evidence.points, setup);
  if (evidence.profile) {
    evidence.simulated = simulate_measured(evidence.points, setup, *evidence.profile);
  }
  return evidence;
}

inline Evidence measured_by(const LoaderMachine& machine) {
  return evidence_of(machine.measured(), machine.setup());
}

// With the consumer of the measured machine, from its profile alone.
inline Evidence simulated_from(const Profile& profile, const SimulationRequest& request) {
  Evidence evidence;
  evidence.profile = changed_for(profile, request);
  evidence.simulated = simulate(*evidence.profile, request);
  return evidence;
}

inline std::optional<Finding> found(const Evidence& evidence, const std::string& name) {
  const std::vector<Finding> findings = workers_findings(evidence);
  const auto at = std::ranges::find(findings, name, &Finding::name);
  return at == findings.end() ? std::nullopt : std::optional(*at);
}

inline std::string claim(const Evidence& evidence, const std::string& name) {
  const auto finding = found(evidence, name);
  return finding ? finding->claim : "no finding " + name;
}

}  // namespace bench::sweeps::testing
