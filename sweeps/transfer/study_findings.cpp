// Findings from the studies: a workload's steps, the cost of pinning, and blocking calls.
#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "bench/result/result.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "bench/transfers.h"
#include "sweeps/transfer/findings.h"
#include "sweeps/transfer/verdict.h"

namespace bench::sweeps {
namespace {

std::vector<std::string> points_near(const TransferFacts& facts, const std::string& kind, double bytes) {
  const CopySeries* const series = find_series(facts.series, "h2d/" + kind);
  return series == nullptr ? std::vector<std::string>() : series->names_near(bytes);
}

// Why the host cannot lock this much; empty where it can.
std::string why_not_pinned(const TransferFacts& facts, double bytes) {
  const auto host_bytes = static_cast<double>(facts.document.context.host.memory_bytes);
  if (host_bytes > 0 && bytes > host_bytes) {
    return fmt::format("does not fit: the host has {}", size_text(host_bytes));
  }
  for (const PinningCost& cost : facts.state.pinning) {  // growing
    if (!cost.unsupported.empty() && static_cast<double>(cost.bytes) <= bytes) {
      return fmt::format("is refused here: {}", cost.unsupported);
    }
  }
  return {};
}

// The memory that the loader's buffers and a staging ring lock for this batch.
LockedBytes locked_bytes(const TransferFacts& facts, const StepStudy& study) {
  const auto batches =
      static_cast<double>(std::max<std::int64_t>(1, facts.state.workers * facts.state.prefetch));
  const double pinned = batches * static_cast<double>(study.bytes);
  return {.pinned = pinned,
          .staged = static_cast<double>(staging_ring_bytes(study.bytes)),
          .pinned_refusal = why_not_pinned(facts, pinned)};
}

// The price of pinning: "locks 64.0 MiB, 16.0 ms once, earned back after 4 steps".
std::string price_in_words(const TransferFacts& facts, const PinVerdict& verdict, const LockedBytes& locked,
                           std::optional<double> pinning_ns) {
  const std::string pinned = size_text(locked.pinned);
  if (verdict.chosen_kind == "staged") {
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
    const bool extrapolated = static_cast<double>(facts.state.pinning.back().bytes) < locked.pinned;
    text +=
        fmt::format(", {} once{}, earned back after {:.0f} steps", format_duration(*pinning_ns),
                    extrapolated ? " (extrapolated)" : "", std::ceil(*pinning_ns / verdict.saved_ns.value));
  }
  return text;
}

std::string verdict_in_words(const TransferFacts& facts, const StepStudy& study, const PinVerdict& verdict,
                             const LockedBytes& locked, std::optional<double> pinning_ns) {
  const Estimate& saved = verdict.saved_ns;
  const Estimate& pageable = study.kind("pageable")->best();
  const std::string step = fmt::format("{} step at batch {}", format_duration(pageable.value), study.batch);
  const std::string share = format_percent(std::abs(verdict.share));
  std::string text;
  std::string advice = "[keep pageable memory]";
  if (verdict.verdict == Verdict::pin) {
    text = fmt::format("Pin: {} memory saves {} of a {}, {}", verdict.chosen_kind,
                       plus_minus_duration(saved.value, saved.ci95), step, share);
    advice = fmt::format("({})", price_in_words(facts, verdict, locked, pinning_ns));
  } else if (verdict.verdict == Verdict::inconclusive) {
    const double noise = (saved.high() - saved.low()) / 2 / pageable.value;
    text = fmt::format("Inconclusive: {} vs pageable memory differ by {} of a {}, less than the noise ({}{})",
                       verdict.chosen_kind, share, step, noise > 1 ? "over ±" : "±",
                       format_percent(std::min(noise, 1.0)));
    advice = "[give a larger --time-budget, or an idle machine]";
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
  if (!facts.state.crosses_bus) {
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    text.insert(0, "Within the host's memory, ");
  }
  return fmt::format("{} {}.", text, advice);
}

Finding claim_verdict(const TransferFacts& facts, const StepStudy& study) {
  Finding finding = finding_of(fmt::format("pin/batch:{}", study.batch), "ns");
  if (!study.unsupported.empty()) {
    finding.claim = fmt::format("No verdict at batch {}: {}.", study.batch, study.unsupported);
    return finding;
  }
  const LockedBytes locked = locked_bytes(facts, study);
  const auto verdict = pin_verdict(study, locked);
  finding.details = {{"verdict", !verdict                           ? "untold"
                                 : verdict->verdict == Verdict::pin ? "pin"
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
  finding.details["open"] = verdict->verdict == Verdict::inconclusive;
  finding.details["locked_bytes"] = verdict->chosen_kind == "staged" ? locked.staged : locked.pinned;
  finding.details["pinned_locks_bytes"] = locked.pinned;
  finding.details["staged_locks_bytes"] = locked.staged;
  const auto pinning_ns =
      locked.pinned_refusal.empty() ? pinning_cost_ns(facts.state.pinning, locked.pinned) : std::nullopt;
  if (pinning_ns) {
    finding.details["pinning_ns"] = *pinning_ns;
  }
  finding.claim = verdict_in_words(facts, study, *verdict, locked, pinning_ns);
  return finding;
}

Finding claim_overlap(const TransferFacts& facts, const StepStudy& study, const KindSteps& kind) {
  Finding finding = finding_of(fmt::format("overlap/{}/batch:{}", kind.name, study.batch), "1",
                               points_near(facts, kind.name, static_cast<double>(study.bytes)));
  const std::string copy =
      fmt::format("the {} copy of {} ({})", kind.name, size_text(static_cast<double>(study.bytes)),
                  format_duration(kind.copy_ns.value));
  const auto hidden = hidden_share(study, kind);
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
  if (const auto slower = slowdown(study, kind)) {
    finding.details = {{"compute_slowdown", *slower}};
    finding.claim += fmt::format("; computing takes {} {} meanwhile", format_percent(std::abs(*slower)),
                                 *slower > 0 ? "longer" : "less");
  }
  finding.claim += '.';
  return finding;
}

void claim_pinning_cost(const TransferFacts& facts, std::vector<Finding>& findings) {
  const PinningCost* largest = nullptr;
  std::string refused;
  for (const PinningCost& cost : facts.state.pinning) {
    if (cost.unsupported.empty()) {
      largest = &cost;
    } else if (refused.empty()) {
      refused = cost.unsupported;
    }
  }
  if (largest == nullptr && refused.empty()) {
    return;
  }
  Finding finding = finding_of("pinning_cost", "ns/MiB");
  if (largest == nullptr) {
    finding.claim = fmt::format("Nothing could be pinned: {}.", refused);
  } else {
    const auto bytes = static_cast<double>(largest->bytes);
    const double mib = bytes / 0x1p20;
    const auto taken = static_cast<double>(largest->taken_bytes) / bytes;
    finding.set(scaled(largest->pin_ns, 1 / mib));
    finding.details = {{"taken_share", taken}};
    finding.claim = fmt::format(
        "Pinning {} takes {}, once, and {} of the host's memory; the same pageable: {}.{}", size_text(bytes),
        plus_minus_duration(largest->pin_ns.value, largest->pin_ns.ci95),
        size_text(static_cast<double>(largest->taken_bytes)), format_duration(largest->pageable_ns),
        refused.empty() ? "" : fmt::format(" Beyond that: {}.", refused));
  }
  findings.push_back(std::move(finding));
}

void claim_held_thread(const TransferFacts& facts, std::vector<Finding>& findings) {
  const CallTime* pinned = nullptr;
  const CallTime* pageable = nullptr;
  for (const CallTime& one : facts.state.calls) {
    for (const CallTime& other : facts.state.calls) {  // the largest size that both have is last
      if (one.direction == "h2d" && other.direction == "h2d" && one.bytes == other.bytes &&
          one.kind == "pinned" && other.kind == "pageable") {
        pinned = &one;
        pageable = &other;
      }
    }
  }
  if (pinned == nullptr) {
    return;
  }
  const auto bytes = static_cast<double>(pinned->bytes);
  Finding finding = finding_of("host_held", "1", points_near(facts, "pinned", bytes));
  std::ranges::copy(points_near(facts, "pageable", bytes), std::back_inserter(finding.evidence));
  finding.set(ratio(pinned->returns_ns, pinned->done_ns));
  if (finding.ci95) {
    finding.ci95->high = std::min(1.0, finding.ci95->high);
  }
  const auto held = [](const CallTime& call) {
    return fmt::format("{} of {}", format_duration(call.returns_ns.value),
                       format_duration(call.done_ns.value));
  };
  finding.claim =
      fmt::format("A copy of {} to the device holds its thread for {} from pinned memory, {} from pageable.",
                  size_text(bytes), held(*pinned), held(*pageable));
  findings.push_back(std::move(finding));
}

}  // namespace

void claim_steps(const TransferFacts& facts, std::vector<Finding>& findings) {
  for (const StepStudy& study : facts.state.steps) {
    findings.push_back(claim_verdict(facts, study));
  }
  for (const StepStudy& study : facts.state.steps) {
    for (const KindSteps& kind : study.kinds) {
      if (kind.unsupported.empty()) {
        findings.push_back(claim_overlap(facts, study, kind));
      }
    }
  }
}

void claim_host_costs(const TransferFacts& facts, std::vector<Finding>& findings) {
  claim_pinning_cost(facts, findings);
  claim_held_thread(facts, findings);
}

}  // namespace bench::sweeps
