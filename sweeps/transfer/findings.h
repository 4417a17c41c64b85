// Findings and tables of the transfer sweep, from its points and studies.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "bench/sweep.h"
#include "sweeps/transfer/copies.h"
#include "sweeps/transfer/state.h"
#include "sweeps/transfer/verdict.h"

namespace bench::sweeps {

// The verdicts first. Pure; copes with few points.
std::vector<Finding> transfer_findings(const ResultDocument& document, const TransferState& state);
std::vector<TextTable> transfer_tables(const ResultDocument& document, const TransferState& state);

// The parts of the above.
struct TransferFacts {
  explicit TransferFacts(const ResultDocument& measured, const TransferState& studied);

  const RunContext& context;
  const TransferState& state;
  std::vector<CopySeries> series;
  std::map<std::string, CopyCurve> curves;  // of plain series, by label
};
void claim_verdicts(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_overlaps(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_bus(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_models(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_model_error(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_crossovers(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_in_flight(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_first_touch(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_pinning_cost(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_held_thread(const TransferFacts& facts, std::vector<Finding>& findings);

// The memory that the loader's buffers and a staging ring lock for this batch.
LockedBytes locked_bytes(const TransferFacts& facts, const StepStudy& study);

// Whether its interval is no wider than the value itself.
inline bool conclusive(const Estimate& estimate) {
  return estimate.high() - estimate.low() <= estimate.value;
}

// "to the device", "to the host", "both ways at once".
std::string copy_way(const std::string& direction);
// "12.3 GB/s".
std::string byte_rate(double bytes_per_s);
// "1.00 MiB" of a whole number of bytes.
std::string size_text(double bytes);

}  // namespace bench::sweeps
