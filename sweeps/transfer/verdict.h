// Whether pinned memory pays for a workload's batch. Pure arithmetic over measured steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/transfer/studies.h"

namespace bench::sweeps {

// The part of the copy that overlaps with the computing, 1 - (step - compute) / copy: 1 all of it, 0 none,
// below 0 where both together take longer than one after the other. The interval takes the three times at
// their ends, so it is wide rather than narrow; none where a time has none. nullopt where the steps'
// intervals are wider than half of the copy: any value would be within noise.
std::optional<Estimate> hidden_share(const StepStudy& study, const KindSteps& kind);
// How much longer the computing takes while the copy runs: 0.1 is 10 %. nullopt where it is not significant.
std::optional<double> slowdown(const StepStudy& study, const KindSteps& kind);

enum class PinningVerdict { pin, dont, inconclusive };

struct PinVerdict {
  PinningVerdict verdict = PinningVerdict::dont;
  std::string chosen_kind{};  // "pinned" or "staged"
  // Best step with pageable memory minus best step with the chosen kind, by the ratio of the rounds; without
  // rounds by the ends of both intervals. None where a time has none.
  Estimate saved_ns{};
  double share = 0;          // of the pageable step
  bool significant = false;  // whichever is faster
  // The pageable copy's time, at the upper end of its interval: no kind of memory saves more.
  double max_saving_ns = 0;
  bool copy_is_short = false;  // that is less than would be worth it
};

// Bytes that each of the two locks.
struct LockedBytes {
  double pinned = 0;             // the loader's buffers
  double staged = 0;             // a ring
  std::string pinned_refusal{};  // why the host has no such buffers, or does not let them be locked
};

// pin where the best step with pinned memory, or staged through it, is at least 1 % faster than the best with
// pageable memory, and significantly so. inconclusive where the difference is not significant and its
// interval, and the copy, leave room for such a saving. Where both pay, or neither does, the faster is named;
// where they do not differ, the one that locks less; where neither pays, an inconclusive one; and staged
// where it pays and the loader's buffers cannot be pinned. nullopt where pageable memory or both others were
// not measured.
std::optional<PinVerdict> pin_verdict(const StepStudy& study, const LockedBytes& locked);

// Cost of pinning this many bytes beyond making ordinary memory, from measured sizes: linear between
// neighbours, in proportion beyond the largest. nullopt for no sizes.
std::optional<double> pinning_cost_ns(const std::vector<PinningCost>& by_size, double bytes);

}  // namespace bench::sweeps
