// Whether pinned memory pays for a workload's batch. Pure arithmetic over measured steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/fit.h"
#include "bench/measure/result.h"

namespace bench::sweeps {

// One kind of host memory under a workload's steps.
struct KindSteps {
  std::string name;         // "pageable", "staged", "pinned"
  std::string unsupported;  // why there are no times
  Estimate copy_ns;         // of the batch, alone
  Estimate serial_ns;       // a step: copy, then compute
  Estimate beside_ns;       // a step: compute, while another thread copies the next batch
  Estimate compute_beside_ns;

  bool beside_is_better() const { return beside_ns.value < serial_ns.value; }
  const Estimate& best() const { return beside_is_better() ? beside_ns : serial_ns; }
};

struct StepStudy {
  std::string workload;
  std::string dtype{};
  std::string unsupported;  // why there is none
  std::int64_t batch = 0;
  double bytes = 0;  // of the batch
  Estimate compute_ns;
  std::vector<KindSteps> kinds;

  const KindSteps* kind(const std::string& name) const;
};

// From document.sweep["transfer"]["steps"].
std::vector<StepStudy> step_studies(const ResultDocument& document);

// The part of the copy that disappears beside the computing, 1 - (step - compute) / copy: 1 all of it, 0
// none, below 0 where both together take longer than one after the other. The interval takes the three times
// at their ends, so it is wide rather than narrow; none where a time has none.
// nullopt where the steps' intervals are wider than half of the copy, so that anything could be read from it.
std::optional<Estimate> hidden_share(const StepStudy& study, const KindSteps& kind);
// How much longer the computing takes beside the copy: 0.1 is 10 %. nullopt where the intervals touch.
std::optional<double> slowdown(const StepStudy& study, const KindSteps& kind);

enum class Verdict { pin, dont, untold };

struct PinVerdict {
  Verdict verdict = Verdict::untold;
  std::string with;      // "pinned" or "staged"
  std::string equals{};  // the other, where the two do not differ beyond their intervals
  double saved_ns = 0;   // a step, best of pageable against best of that
  // From both intervals at their ends, so wider than one of 95 %; none where a time has none.
  std::optional<Interval> saved_ci95_ns{};
  double share = 0;    // of the pageable step
  bool apart = false;  // the intervals do not touch, whichever is faster
  // What the copy from pageable memory takes at the end of its interval: more than that no memory can save.
  double most_ns = 0;
  bool copy_is_short = false;  // that is less than would be worth it
  // The intervals touch, and leave room, as the copy does, for a saving that would be worth it: dont is no
  // more than caution.
  bool open = false;
};

// Bytes that each of the two locks.
struct LockedBytes {
  double pinned = 0;            // the loader's buffers
  double staged = 0;            // a ring
  bool pinned_possible = true;  // the host has them, and lets them be locked
};

// "pin" where the best step with pinned memory, or staged through it, is at least 1 % faster than the best
// with pageable memory, and their intervals do not touch. Both are compared as they do best, one after the
// other or beside: a second thread serves pageable memory too. Where both pay, or neither does, the faster is
// named; where their intervals touch, the one that locks less; where neither pays, one that is open; and
// staged where it pays and the loader's buffers cannot be pinned. untold: where either was not measured.
PinVerdict pin_verdict(const StepStudy& study, const LockedBytes& locked);

// What making this many bytes of memory takes, from measured sizes: straight between neighbours, in
// proportion beyond the largest. nullopt for no sizes.
std::optional<double> cost_ns(const std::vector<std::pair<double, double>>& by_size, double bytes);

}  // namespace bench::sweeps
