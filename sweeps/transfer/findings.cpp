#include "sweeps/transfer/findings.h"

#include <iterator>
#include <utility>

#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"

namespace bench::sweeps {

std::vector<Finding> transfer_findings(const ResultDocument& document) {
  const std::vector<TransferSeries> all = transfer_series(document);
  const TransferCurves curves = fit_curves(all);
  std::vector<Finding> findings = claim_verdicts(document);
  const auto add = [&](std::vector<Finding> more) {
    findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  };
  const auto add_one = [&](std::optional<Finding> one) {
    if (one) {
      findings.push_back(std::move(*one));
    }
  };
  add(claim_overlap(document, all));
  add_one(claim_bus(document, all));
  add(claim_models(document, all, curves));
  add_one(claim_model_error(all));
  add(claim_crossovers(all, curves));
  add(claim_at_once(all));
  add(claim_cold_pages(all));
  add_one(claim_pinning(document));
  add_one(claim_calls(document, all));
  return findings;
}

}  // namespace bench::sweeps
