#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "bench/staging.h"
#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"

namespace bench::sweeps {
namespace {

std::string step_label(const StepStudy& study) {
  return fmt::format("{} in {}, batch {}", study.workload, study.dtype, study.batch);
}

std::string with_interval(const Estimate& time) {
  return time.ci95 ? fmt::format("{} ({} to {})", format_duration(time.value),
                                 format_duration(time.ci95->low), format_duration(time.ci95->high))
                   : format_duration(time.value);
}

// "pageable 12.1 ms (12.0 ms to 12.3 ms), staged …": each as it does best.
std::string best_steps(const StepStudy& study) {
  std::string text;
  for (const KindSteps& kind : study.kinds) {
    if (kind.unsupported.empty()) {
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", kind.name, with_interval(kind.best()),
                          kind.beside_is_better() ? " with the copy beside" : "");
    }
  }
  return text;
}

// Steps that scatter more than their copies take may be shorter than the computing alone.
std::string computing_in_words(const StepStudy& study) {
  const bool within = std::ranges::all_of(study.kinds, [&](const KindSteps& kind) {
    return !kind.unsupported.empty() || kind.best().value >= study.compute_ns.value;
  });
  const std::string time = format_duration(study.compute_ns.value);
  return within ? fmt::format("of which {} is computing", time)
                : fmt::format("and {} computing alone (the steps scatter more than the copy takes)", time);
}

// "does not fit: …" or "is refused here: …" of this much pinned memory; empty where it can be had.
std::string why_not_pinned(const ResultDocument& document, double bytes) {
  const double host_bytes = document.context.is_object() && document.context.contains("host")
                                ? document.context["host"].value("memory_bytes", 0.0)
                                : 0;
  if (host_bytes > 0 && bytes > host_bytes) {
    return fmt::format("does not fit: the host has {}", size_text(host_bytes));
  }
  for (const Json& row : transfer_noted(document, "pinning")) {  // growing
    if (row.contains("unsupported") && row["bytes"].get<double>() <= bytes) {
      return fmt::format("is refused here: {}", row["unsupported"].get<std::string>());
    }
  }
  return {};
}

LockedBytes locked_bytes(const ResultDocument& document, const StepStudy& study) {
  const double batches =
      transfer_noted(document, "workers").get<double>() * transfer_noted(document, "prefetch").get<double>();
  const double pinned = std::max(1.0, batches) * study.bytes;
  return {.pinned = pinned,
          .staged = static_cast<double>(staging_ring_bytes(static_cast<std::int64_t>(study.bytes))),
          .pinned_possible = why_not_pinned(document, pinned).empty()};
}

// What the loader's buffers take, and what locking them costs.
std::string needed_memory(const ResultDocument& document, const StepStudy& study, const PinVerdict& verdict,
                          Json& details) {
  const double workers = transfer_noted(document, "workers").get<double>();
  const double prefetch = transfer_noted(document, "prefetch").get<double>();
  const LockedBytes locked = locked_bytes(document, study);
  const double bytes = locked.pinned;
  details["locked_bytes"] = verdict.with == "staged" ? locked.staged : locked.pinned;
  details["pinned_locks_bytes"] = locked.pinned;
  details["staged_locks_bytes"] = locked.staged;
  std::string text =
      workers > 0
          ? fmt::format("{:.0f} worker{} with {:.0f} batch{} of {} ready lock {} of the host's memory",
                        workers, workers == 1 ? "" : "s", prefetch, prefetch == 1 ? "" : "es",
                        size_text(study.bytes), size_text(bytes))
          : fmt::format("a loader without workers locks one batch, {}", size_text(bytes));
  if (verdict.with == "staged") {
    text = fmt::format("staging locks only its ring, {}; pinned instead, {}", size_text(locked.staged), text);
  }
  if (const std::string why_not = why_not_pinned(document, bytes); !why_not.empty()) {
    return text + fmt::format(", which {}", why_not);
  }
  const auto costs = pinning_costs(document);
  if (const auto cost = cost_ns(costs, bytes)) {
    details["pinning_ns"] = *cost;
    text += *cost > 0 ? fmt::format(", which takes {} longer, once, than ordinary memory does",
                                    format_duration(*cost))
                      : std::string(", which takes no longer than ordinary memory does");
    text += bytes > costs.back().first ? fmt::format(" (extrapolated from {})", size_text(costs.back().first))
                                       : "";
    if (verdict.verdict == Verdict::pin && verdict.with == "pinned" && *cost > 0) {
      text += fmt::format(", earned back after {:.0f} steps", std::ceil(*cost / verdict.saved_ns));
    }
  }
  return text;
}

// "anything from 129 ms lost to 194 ms saved".
std::string anything_in(const Interval& saved, double most_ns) {
  return fmt::format("anything from {} lost to {} saved", format_duration(std::max(0.0, -saved.low)),
                     format_duration(std::clamp(saved.high, 0.0, most_ns)));
}

// "saves 20.6 µs a step (0.4 %), which lies within the intervals; the copy from pageable memory takes no more
// than 128 µs, 0.3 % of the step, and pinned memory does not differ from it measurably".
std::string difference_in_words(const PinVerdict& verdict) {
  const std::string amount = fmt::format("{} a step ({})", format_duration(std::abs(verdict.saved_ns)),
                                         format_percent(std::abs(verdict.share)));
  std::string worth;
  if (verdict.open && verdict.saved_ci95_ns) {
    worth =
        fmt::format(", with intervals that leave {}", anything_in(*verdict.saved_ci95_ns, verdict.most_ns));
  } else if (!verdict.apart) {
    worth = ", which lies within the intervals";
    if (verdict.copy_is_short) {
      worth += fmt::format(", and the whole copy from pageable memory takes {} at most",
                           format_duration(verdict.most_ns));
    }
  } else if (verdict.saved_ns <= 0) {
    worth = " more";
  } else if (verdict.verdict == Verdict::dont) {
    worth = ", which is less than 1 %";
  }
  return fmt::format("{} {}{}{}", verdict.saved_ns > 0 ? "saves" : "costs", amount, worth,
                     verdict.equals.empty()
                         ? ""
                         : fmt::format(", and {} memory does not differ from it measurably", verdict.equals));
}

const char* verdict_in_words(const PinVerdict& verdict, const LockedBytes& locked) {
  if (verdict.verdict == Verdict::pin) {
    return verdict.with == "pinned" && !locked.pinned_possible ? "Pin, with fewer or smaller batches ready"
                                                               : "Pin";
  }
  return verdict.open ? "Don't pin yet, whether it pays cannot be told" : "Don't pin";
}

// " (91 % to 97 %)", within all and nothing of a copy.
std::string hidden_range(const Estimate& hidden) {
  return hidden.ci95 ? fmt::format(" ({})", percent_range({.low = std::clamp(hidden.ci95->low, 0.0, 1.0),
                                                           .high = std::clamp(hidden.ci95->high, 0.0, 1.0)}))
                     : std::string();
}

}  // namespace

std::vector<Finding> claim_overlap(const ResultDocument& document, const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  for (const StepStudy& study : step_studies(document)) {
    for (const KindSteps& kind : study.kinds) {
      if (!kind.unsupported.empty()) {
        continue;
      }
      Finding finding = finding_of(fmt::format("overlap/{}/batch:{}", kind.name, study.batch), "1",
                                   series_names_near(all, fmt::format("h2d/{}", kind.name), study.bytes));
      const auto hidden = hidden_share(study, kind);
      const auto slower = slowdown(study, kind);
      if (hidden) {
        finding.value = hidden->value;
        finding.ci95 = hidden->ci95;
      }
      if (slower) {
        finding.details = {{"compute_slowdown", *slower}};
      }
      const std::string copied = fmt::format("the copy of {} from {} memory ({})", size_text(study.bytes),
                                             kind.name, format_duration(kind.copy_ns.value));
      const std::string computing =
          slower ? fmt::format("its computing takes {} {}", format_percent(std::abs(*slower)),
                               *slower > 0 ? "longer" : "less")
                 : std::string("its computing is not measurably slower");
      if (!hidden) {
        finding.claim = fmt::format(
            "Beside a step of {}, how much of {} is hidden cannot be told: the steps scatter more "
            "than the copy takes; {}.",
            step_label(study), copied, computing);
      } else if (hidden->value < 0) {
        finding.claim = fmt::format(
            "Beside a step of {}, nothing of {} is hidden: together they take {} longer than the copy does; "
            "{}.",
            step_label(study), copied,
            format_duration(kind.beside_ns.value - study.compute_ns.value - kind.copy_ns.value), computing);
      } else {
        finding.claim = fmt::format("Beside a step of {}, {}{} of {} is hidden; {}.", step_label(study),
                                    format_percent(std::min(1.0, hidden->value)), hidden_range(*hidden),
                                    copied, computing);
      }
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::vector<Finding> claim_verdicts(const ResultDocument& document) {
  std::vector<Finding> findings;
  for (const StepStudy& study : step_studies(document)) {
    Finding finding = finding_of(fmt::format("pin/batch:{}", study.batch), "ns");
    if (!study.unsupported.empty()) {
      finding.claim = fmt::format("Whether pinning pays for {} cannot be told: {}.", step_label(study),
                                  study.unsupported);
      findings.push_back(std::move(finding));
      continue;
    }
    const LockedBytes locked = locked_bytes(document, study);
    const PinVerdict verdict = pin_verdict(study, locked);
    finding.details = {{"verdict", verdict.verdict == Verdict::pin    ? "pin"
                                   : verdict.verdict == Verdict::dont ? "don't"
                                                                      : "untold"},
                       {"compute_ns", study.compute_ns.value}};
    for (const KindSteps& kind : study.kinds) {
      if (kind.unsupported.empty()) {
        finding.details[kind.name + "_ns"] = kind.best().value;
      }
    }
    if (verdict.verdict == Verdict::untold) {
      std::set<std::string> reasons;
      for (const KindSteps& kind : study.kinds) {
        if (!kind.unsupported.empty()) {
          reasons.insert(kind.unsupported);
        }
      }
      finding.claim = fmt::format("Whether pinning pays for {} cannot be told: {}.", step_label(study),
                                  reasons.empty() ? std::string("nothing was measured") : *reasons.begin());
      findings.push_back(std::move(finding));
      continue;
    }
    finding.value = verdict.saved_ns;
    finding.ci95 = verdict.saved_ci95_ns;
    finding.details["dtype"] = study.dtype;
    finding.details["with"] = verdict.with;
    finding.details["open"] = verdict.open;
    const std::string memory = needed_memory(document, study, verdict, finding.details);
    const std::string times = fmt::format("a step of {} takes {}, {}", step_label(study), best_steps(study),
                                          computing_in_words(study));
    finding.claim = fmt::format("{}: {}; {} memory {}; {}.", verdict_in_words(verdict, locked), times,
                                verdict.with, difference_in_words(verdict), memory);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace bench::sweeps
