#include "sweeps/transfer/findings.h"

#include <algorithm>
#include <cmath>

#include "bench/measure/finding.h"
#include "bench/measure/units.h"

namespace bench::sweeps {

TransferFacts::TransferFacts(const ResultDocument& measured, const TransferState& studied)
    : context(measured.context), state(studied), series(copy_series(measured)) {
  for (const CopySeries& one : series) {
    if (auto curve = one.plain() ? fit_copy_curve(one.times()) : std::nullopt) {
      curves.emplace(one.label(), std::move(*curve));
    }
  }
}

std::string copy_way(const std::string& direction) {
  return direction == "h2d" ? "to the device" : direction == "d2h" ? "to the host" : "both ways at once";
}

std::string byte_rate(double bytes_per_s) {
  return format_rate(bytes_per_s, "B/s");
}

std::string size_text(double bytes) {
  return format_bytes(std::llround(bytes));
}

std::vector<Finding> transfer_findings(const ResultDocument& document, const TransferState& state) {
  const TransferFacts facts(document, state);
  std::vector<Finding> findings;
  for (const auto claim :
       {claim_verdicts, claim_overlaps, claim_bus, claim_models, claim_model_error, claim_crossovers,
        claim_in_flight, claim_first_touch, claim_pinning_cost, claim_held_thread}) {
    claim(facts, findings);
  }
  std::vector<std::string> headlines;
  for (const StepStudy& study : state.steps) {
    headlines.push_back("pin/batch:" + std::to_string(study.batch));
  }
  headlines.insert(headlines.end(), {"crossover/h2d/pinned", "model/h2d/pinned"});
  for (const StepStudy& study : state.steps) {
    headlines.push_back("overlap/pinned/batch:" + std::to_string(study.batch));
  }
  headlines.insert(headlines.end(), {"bus", "model/h2d/pageable", "pinning_cost", "model/d2h/pinned"});
  const std::string first = headlines.front();
  std::erase_if(headlines, [&](const std::string& name) {
    const auto finding = std::ranges::find(findings, name, &Finding::name);
    return finding == findings.end() || (!finding->value && name != first) ||
           (name.starts_with("model/") && finding->value && !conclusive({*finding->value, finding->ci95}));
  });
  if (!state.crosses_bus) {  // once, before all that it qualifies
    headlines.insert(headlines.begin(), "bus");
  }
  set_headlines(findings, headlines, true);
  return findings;
}

}  // namespace bench::sweeps
