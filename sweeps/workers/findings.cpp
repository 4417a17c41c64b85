#include "sweeps/workers/findings.h"

#include <iterator>
#include <utility>

#include "sweeps/workers/claims.h"

namespace bench::sweeps {

std::vector<Finding> workers_findings(const ResultDocument& document) {
  const LoaderEvidence evidence = evidence_of(document);
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> one) {
    if (one) {
      findings.push_back(std::move(*one));
    }
  };
  add(claim_recommended(document, evidence));
  add(claim_starvation(evidence));
  add(claim_knee(evidence));
  add(claim_simulated_knee(evidence));
  add(claim_simulation_error(evidence));
  add(claim_plateau(evidence));
  add(claim_harm(evidence));
  add(claim_stages(evidence));
  add(claim_law(evidence));
  add(claim_slowdown(evidence));
  std::vector<Finding> demands = claim_demands(evidence);
  findings.insert(findings.end(), std::make_move_iterator(demands.begin()),
                  std::make_move_iterator(demands.end()));
  add(claim_nice(document, evidence));
  add(claim_pinning(evidence));
  add(claim_bad_files(document, evidence));
  return findings;
}

}  // namespace bench::sweeps
