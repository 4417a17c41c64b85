#include "sweeps/transfer/verdict.h"

#include <utility>

#include "bench/stats/ratio.h"

namespace bench::sweeps {
namespace {

constexpr double kWorthwhile = 0.01;  // of a step

PinVerdict compared(const KindSteps& pageable, const KindSteps& kind) {
  const Estimate& before = pageable.best();
  const Estimate& after = kind.best();
  PinVerdict verdict{.chosen_kind = kind.name};
  const Estimate left = ratio_by_rounds(after, kind.best_samples(), before, pageable.best_samples());
  verdict.share = 1 - left.value;
  if (paired_ratio(kind.best_samples(), pageable.best_samples())) {
    verdict.saved_ns.value = verdict.share * before.value;
    verdict.saved_ns.ci95 =
        Interval{.low = (1 - left.high()) * before.value, .high = (1 - left.low()) * before.value};
  } else {
    verdict.saved_ns.value = before.value - after.value;
    if (left.ci95) {
      verdict.saved_ns.ci95 =
          Interval{.low = before.low() - after.high(), .high = before.high() - after.low()};
    }
  }
  verdict.significant = differs_from_one(left);
  verdict.max_saving_ns = pageable.copy_ns.high();
  verdict.copy_is_short = verdict.max_saving_ns < kWorthwhile * before.value;
  if (verdict.significant && verdict.share >= kWorthwhile) {
    verdict.verdict = PinningVerdict::pin;
  } else if (!verdict.significant && !verdict.copy_is_short && 1 - left.low() >= kWorthwhile) {
    verdict.verdict = PinningVerdict::inconclusive;
  }
  return verdict;
}

}  // namespace

std::optional<Estimate> hidden_share(const StepStudy& study, const KindSteps& kind) {
  const Estimate& step = kind.overlapped_ns;
  const Estimate& compute = study.compute_ns;
  const double scatter = (step.high() - step.low() + compute.high() - compute.low()) / 2;
  if (scatter > kind.copy_ns.value / 2) {
    return std::nullopt;
  }
  Estimate hidden{.value = 1 - (step.value - compute.value) / kind.copy_ns.value};
  if (step.ci95 && compute.ci95 && kind.copy_ns.ci95 && kind.copy_ns.ci95->low > 0) {
    const Interval& copy = *kind.copy_ns.ci95;
    const double least = step.low() - compute.high();  // of the copy that is not hidden
    const double most = step.high() - compute.low();
    hidden.ci95 = Interval{.low = 1 - most / (most > 0 ? copy.low : copy.high),
                           .high = 1 - least / (least > 0 ? copy.high : copy.low)};
  }
  return hidden;
}

std::optional<double> slowdown(const StepStudy& study, const KindSteps& kind) {
  const Estimate times = ratio_by_rounds(kind.compute_overlapped_ns, kind.samples.compute_overlapped,
                                         study.compute_ns, study.compute_samples);
  return differs_from_one(times) ? std::optional(times.value - 1) : std::nullopt;
}

std::optional<PinVerdict> pin_verdict(const StepStudy& study, const LockedBytes& locked) {
  const KindSteps* const pageable = study.kind("pageable");
  const KindSteps* const pinned = study.kind("pinned");
  const KindSteps* const staged = study.kind("staged");
  if (pageable == nullptr || (pinned == nullptr && staged == nullptr)) {
    return std::nullopt;
  }
  if (pinned == nullptr || staged == nullptr) {
    return compared(*pageable, pinned != nullptr ? *pinned : *staged);
  }
  const PinVerdict by_pinned = compared(*pageable, *pinned);
  const PinVerdict by_staged = compared(*pageable, *staged);
  // A kind that pays before one that may pay, before one that does not.
  const auto rank = [](const PinVerdict& verdict) {
    return verdict.verdict == PinningVerdict::pin            ? 2
           : verdict.verdict == PinningVerdict::inconclusive ? 1
                                                             : 0;
  };
  bool take_staged = by_staged.saved_ns.value > by_pinned.saved_ns.value;
  if (by_staged.verdict == PinningVerdict::pin && !locked.pinned_refusal.empty()) {
    take_staged = true;
  } else if (rank(by_pinned) != rank(by_staged)) {
    take_staged = rank(by_staged) > rank(by_pinned);
  } else if (!differs_from_one(ratio_by_rounds(pinned->best(), pinned->best_samples(), staged->best(),
                                               staged->best_samples()))) {
    take_staged = locked.staged < locked.pinned;
  }
  return take_staged ? by_staged : by_pinned;
}

std::optional<double> pinning_cost_ns(const std::vector<PinningCost>& by_size, double bytes) {
  std::optional<std::pair<double, double>> below;  // bytes, ns
  for (const PinningCost& cost : by_size) {
    if (!cost.unsupported.empty()) {
      continue;
    }
    const auto size = static_cast<double>(cost.bytes);
    const double ns = cost.pin_ns.value - cost.pageable_ns;
    if (size >= bytes) {
      return below ? below->second + (ns - below->second) * (bytes - below->first) / (size - below->first)
                   : ns;
    }
    below = {size, ns};
  }
  return below ? std::optional(below->second * bytes / below->first) : std::nullopt;
}

}  // namespace bench::sweeps
