// The parts of prove(): each measures one thing beside the sweep's points and notes it, see prove.h.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "bench/sweep.h"
#include "bench/transfers.h"
#include "sweeps/transfer/sizes.h"

namespace bench::sweeps {

struct TransferStudies {
  SweepStudy& sweep;
  Transfers& transfers;
  TransferOptions options;

  Json& noted() const { return sweep.document.sweep["transfer"]; }
  std::optional<int> node() const { return node_named(options.node, transfers); }
};

void study_pinning(const TransferStudies& studies);
void study_calls(const TransferStudies& studies);
void study_steps(const TransferStudies& studies);

// By wall clock.
inline double since_ns(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// {"median_ns", "ci95_ns"}. One sample a round: what changes between them is in the interval.
Json time_of(const std::vector<double>& rounds_ns, std::uint64_t seed);

}  // namespace bench::sweeps
