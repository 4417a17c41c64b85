// The answer of the transfer sweep's studies in words: a workload's steps, pinning, and blocking calls.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/transfer/answer.h"

namespace bench::sweeps {
namespace {

std::vector<std::string> points_near(const TransferEvidence& evidence, const std::string& kind,
                                     double bytes) {
  const CopySeries* const series = find_series(evidence.series, "h2d/" + kind);
  return series == nullptr ? std::vector<std::string>() : series->names_near(bytes);
}

// The price of pinning: "locks 64.0 MiB, 16.0 ms once, earned back after 4 steps".
std::string price_in_words(const TransferEvidence& evidence, const StepsAnswer& steps) {
  const LockedBytes& locked = steps.locked;
  const auto& pinning_ns = steps.pinning_ns;
  const std::string pinned = size_text(locked.pinned);
  if (steps.verdict->chosen_kind == "staged") {
    return fmt::format("its ring locks {}; {}", size_text(locked.staged),
                       locked.pinned_refusal.empty()
                           ? fmt::format("pinned buffers {}", pinned)
                           : fmt::format("pinning {} {}", pinned, locked.pinned_refusal));
  }
  if (!locked.pinned_refusal.empty()) {
    return fmt::format("have fewer or smaller batches ready: {} {}", pinned, locked.pinned_refusal);
  }
  std::string text = fmt::format("locks {}", pinned);
  if (pinning_ns && *pinning_ns > 0) {
    const bool extrapolated = static_cast<double>(evidence.state.pinning.back().bytes) < locked.pinned;
    text += fmt::format(", {} once{}, earned back after {:.0f} steps", format_duration(*pinning_ns),
                        extrapolated ? " (extrapolated)" : "",
                        std::ceil(*pinning_ns / steps.verdict->saved_ns.value));
  }
  return text;
}

std::string verdict_in_words(const TransferEvidence& evidence, const StepsAnswer& steps) {
  const StepStudy& study = *steps.study;
  const PinVerdict& verdict = *steps.verdict;
  const Estimate& saved = verdict.saved_ns;
  const Estimate& pageable = study.kind("pageable")->best();
  const std::string step = fmt::format("{} step at batch {}", format_duration(pageable.value), study.batch);
  const std::string share = format_percent(std::abs(verdict.share));
  std::string text;
  std::string advice = "[keep pageable memory]";
  if (verdict.verdict == PinningVerdict::pin) {
    text = fmt::format("Pin: {} memory saves {} of a {}, {}", verdict.chosen_kind,
                       plus_minus_duration(saved.value, saved.ci95), step, share);
    advice = fmt::format("({})", price_in_words(evidence, steps));
  } else if (verdict.verdict == PinningVerdict::inconclusive) {
    const double noise = (saved.high() - saved.low()) / 2 / pageable.value;
    text = fmt::format("Inconclusive: {} vs pageable memory differ by {} of a {}, less than the noise ({}{})",
                       verdict.chosen_kind, share, step, noise > 1 ? "over ±" : "±",
                       format_percent(std::min(noise, 1.0)));
    advice = fmt::format("[{}, or an idle machine]", give_time());
  } else if (!verdict.significant && verdict.copy_is_short) {
    constexpr double kLeastShown = 0.001;
    const double most = verdict.max_saving_ns / pageable.value;
    text = fmt::format("Don't pin: the pageable copy takes at most {} of a {}, {}",
                       format_duration(verdict.max_saving_ns), step,
                       most < kLeastShown ? "below 0.1 %" : format_percent(most));
  } else if (!verdict.significant) {
    text = fmt::format("Don't pin: {} vs pageable memory differ by {} of a {}, not significant",
                       verdict.chosen_kind, share, step);
  } else {
    text =
        fmt::format("Don't pin: {} memory {} {} of a {}, {}", verdict.chosen_kind,
                    saved.value > 0 ? "saves" : "costs", format_duration(std::abs(saved.value)), step, share);
  }
  if (!evidence.state.crosses_bus) {
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    text.insert(0, "Within the host's memory, ");
  }
  return fmt::format("{} {}.", text, advice);
}

Finding claim_verdict(const TransferEvidence& evidence, const StepsAnswer& steps) {
  const StepStudy& study = *steps.study;
  Finding finding = finding_of(steps.finding_name(), "ns");
  if (!study.unsupported.empty()) {
    finding.claim = fmt::format("No verdict at batch {}: {}.", study.batch, study.unsupported);
    return finding;
  }
  const LockedBytes& locked = steps.locked;
  const auto& verdict = steps.verdict;
  finding.details = {{"verdict", !verdict                                  ? "untold"
                                 : verdict->verdict == PinningVerdict::pin ? "pin"
                                                                           : "don't"},
                     {"compute_ns", study.compute_ns.value}};
  std::string reason = "nothing was measured";
  for (const KindSteps& kind : study.kinds) {
    if (kind.unsupported.empty()) {
      finding.details[kind.name + "_ns"] = kind.best().value;
    } else {
      reason = kind.unsupported;
    }
  }
  if (!verdict) {
    finding.claim = fmt::format("No verdict at batch {}: {}.", study.batch, reason);
    return finding;
  }
  finding.set(verdict->saved_ns);
  finding.details["dtype"] = study.dtype;
  finding.details["with"] = verdict->chosen_kind;
  finding.details["open"] = verdict->verdict == PinningVerdict::inconclusive;
  finding.details["locked_bytes"] = verdict->chosen_kind == "staged" ? locked.staged : locked.pinned;
  finding.details["pinned_locks_bytes"] = locked.pinned;
  finding.details["staged_locks_bytes"] = locked.staged;
  if (steps.pinning_ns) {
    finding.details["pinning_ns"] = *steps.pinning_ns;
  }
  finding.claim = verdict_in_words(evidence, steps);
  return finding;
}

Finding claim_overlap(const TransferEvidence& evidence, const StepsAnswer& steps, const Overlap& overlap) {
  const StepStudy& study = *steps.study;
  const KindSteps& kind = *overlap.kind;
  Finding finding = finding_of(steps.overlap_name(overlap), "1",
                               points_near(evidence, kind.name, static_cast<double>(study.bytes)));
  const std::string copy =
      fmt::format("the {} copy of {} ({})", kind.name, size_text(static_cast<double>(study.bytes)),
                  format_duration(kind.copy_ns.value));
  const auto& hidden = overlap.hidden;
  if (!hidden) {
    finding.claim =
        fmt::format("At batch {} how much of {} the computing hides is within noise", study.batch, copy);
  } else if (finding.set(*hidden); hidden->value < 0) {
    finding.claim =
        fmt::format("At batch {} computing hides nothing of {}: overlapped, both take {} longer than in turn",
                    study.batch, copy,
                    format_duration(kind.overlapped_ns.value - study.compute_ns.value - kind.copy_ns.value));
  } else {
    const auto percent = [](double share) { return format_percent(std::clamp(share, 0.0, 1.0)); };
    const std::string interval =
        hidden->ci95 ? fmt::format(" ({} to {})", percent(hidden->low()), percent(hidden->high())) : "";
    finding.claim = fmt::format("At batch {} computing hides {}{} of {}", study.batch, percent(hidden->value),
                                interval, copy);
  }
  if (const auto& slower = overlap.slower) {
    finding.details = {{"compute_slowdown", *slower}};
    finding.claim += fmt::format("; computing takes {} {} meanwhile", format_percent(std::abs(*slower)),
                                 *slower > 0 ? "longer" : "less");
  }
  finding.claim += '.';
  return finding;
}

Finding claim_pinning_cost(const PinnedMemory& pinning) {
  Finding finding = finding_of("pinning_cost", "ns/MiB");
  if (pinning.largest == nullptr) {
    finding.claim = fmt::format("Nothing could be pinned: {}.", pinning.refused);
    return finding;
  }
  const PinningCost& largest = *pinning.largest;
  const auto bytes = static_cast<double>(largest.bytes);
  const double mib = bytes / 0x1p20;
  const auto taken = static_cast<double>(largest.taken_bytes) / bytes;
  finding.set(scaled(largest.pin_ns, 1 / mib));
  finding.details = {{"taken_share", taken}};
  finding.claim =
      fmt::format("Pinning {} takes {}, once, and {} of the host's memory; the same pageable: {}.{}",
                  size_text(bytes), plus_minus_duration(largest.pin_ns.value, largest.pin_ns.ci95),
                  size_text(static_cast<double>(largest.taken_bytes)), format_duration(largest.pageable_ns),
                  pinning.refused.empty() ? "" : fmt::format(" Beyond that: {}.", pinning.refused));
  return finding;
}

Finding claim_held_thread(const TransferEvidence& evidence, const HeldThread& held) {
  const auto bytes = static_cast<double>(held.pinned->bytes);
  Finding finding = finding_of("host_held", "1", points_near(evidence, "pinned", bytes));
  std::ranges::copy(points_near(evidence, "pageable", bytes), std::back_inserter(finding.evidence));
  finding.set(ratio(held.pinned->returns_ns, held.pinned->done_ns));
  if (finding.ci95) {
    finding.ci95->high = std::min(1.0, finding.ci95->high);
  }
  const auto time_held = [](const CallTime& call) {
    return fmt::format("{} of {}", format_duration(call.returns_ns.value),
                       format_duration(call.done_ns.value));
  };
  finding.claim =
      fmt::format("A copy of {} to the device holds its thread for {} from pinned memory, {} from pageable.",
                  size_text(bytes), time_held(*held.pinned), time_held(*held.pageable));
  return finding;
}

}  // namespace

void claim_steps(const TransferEvidence& evidence, const TransferAnswer& answer,
                 std::vector<Finding>& findings) {
  for (const StepsAnswer& steps : answer.steps) {
    findings.push_back(claim_verdict(evidence, steps));
  }
  for (const StepsAnswer& steps : answer.steps) {
    for (const Overlap& overlap : steps.overlaps) {
      findings.push_back(claim_overlap(evidence, steps, overlap));
    }
  }
}

void claim_host_costs(const TransferEvidence& evidence, const TransferAnswer& answer,
                      std::vector<Finding>& findings) {
  if (answer.pinning) {
    findings.push_back(claim_pinning_cost(*answer.pinning));
  }
  if (answer.held) {
    findings.push_back(claim_held_thread(evidence, *answer.held));
  }
}

}  // namespace bench::sweeps
