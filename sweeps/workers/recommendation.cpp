// How many workers, and what they cost.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/stats/saturation.h"
#include "bench/text/units.h"
#include "sweeps/workers/findings.h"

namespace bench::sweeps {
namespace {

// The smallest prefetch with 99 % of the best AU. The simulation knows only the slow moments that were
// measured: not less than two, unless less was asked for.
std::int64_t enough_prefetch(const Simulated& simulated) {
  double best = 0;
  for (const auto& [prefetch, au] : simulated.prefetches) {
    best = std::max(best, au);
  }
  for (const auto& [prefetch, au] : simulated.prefetches) {
    if (au >= 0.99 * best && prefetch >= std::min<std::int64_t>(2, simulated.prefetch)) {
      return prefetch;
    }
  }
  return simulated.prefetch;
}

struct Stagings {
  const LoaderPoint& pinned;
  const LoaderPoint& pageable;

  Estimate speedup() const { return ratio(pinned.samples_per_s, pageable.samples_per_s); }
  // Significantly faster, and by what is worth the trouble.
  bool pinning_pays() const {
    constexpr double kWorthIt = 1.01;
    const Estimate times = speedup();
    return times.ci95 && times.low() > 1 && times.value > kWorthIt;
  }
};

std::optional<Stagings> both_stagings(const LoaderPoints& points) {
  if (!points.ready || !points.other_staging) {
    return std::nullopt;
  }
  const bool ready_is_pinned = points.ready->staging == "pinned";
  return Stagings{.pinned = ready_is_pinned ? *points.ready : *points.other_staging,
                  .pageable = ready_is_pinned ? *points.other_staging : *points.ready};
}

// ", pin_memory=True"; empty where the consumer is a time, whose device is not known.
std::string pin_memory(const Evidence& evidence) {
  if (const auto both = both_stagings(evidence.points)) {
    return both->pinning_pays() ? ", pin_memory=True" : ", pin_memory=False";
  }
  const auto& profile = evidence.profile;
  const LoaderSetup& setup = evidence.setup;
  if ((profile ? profile->consumer_device : setup.consumer_device) == "none") {
    return "";
  }
  return (profile ? profile->consumer_on_cores : setup.consumer_on_cores) ? ", pin_memory=False"
                                                                          : ", pin_memory=True";
}

// " (2 to 3)", where the load times of a loader of the user's allow several counts.
std::string allowed_counts(const Profile& profile, const std::optional<Interval>& range) {
  std::string text;
  if (range && range->low < range->high) {
    text = fmt::format("{:.0f} to {:.0f}", range->low, range->high);
  }
  if (profile.law.workers.size() == 1) {
    text += fmt::format("{}assumes perfect scaling, for there are times with 1 worker only",
                        text.empty() ? "" : "; ");
  }
  return text.empty() ? text : fmt::format(" ({})", text);
}

struct Choice {
  std::int64_t workers = 0;
  bool more_harm = false;  // the next count makes fewer samples a second
  bool simulated = false;  // the simulation alone says so
  bool single = false;     // the one count that was measured, against the simulation
  std::string why{};       // " (0 to 4 are within noise)"; empty where the measurement is clear
  Estimate au{};
  std::optional<Knee> measured{};   // where it decided
  std::optional<Interval> range{};  // of the simulated counts
};

// The one count whose AU was measured, where the simulation promises no more with another count.
const LoaderPoint* single_and_better(const Evidence& evidence, const SimulatedPoint* simulated) {
  const auto& pool = evidence.points.pool;
  const auto with_au = [](const LoaderPoint& point) { return point.au.has_value(); };
  const auto single = std::ranges::find_if(pool, with_au);
  return simulated != nullptr && std::ranges::count_if(pool, with_au) == 1 &&
                 single->workers != simulated->workers && single->au->value >= simulated->au
             ? &*single
             : nullptr;
}

// By the measured knee where the intervals single out a count. Within noise the simulation chooses among the
// counts that the intervals allow; without it, or where it allows none of them, the largest of them is safe,
// and a measured knee that is certain to feed the consumer comes before the simulation's larger count.
std::optional<Choice> choose(const Evidence& evidence) {
  const auto harm = evidence.harm();
  // AU alone does not show that computing takes longer: counts that harm are left out.
  const auto measured = harm ? evidence.measured_knee(harm->from) : evidence.measured_knee();
  const auto simulated = evidence.simulated_knee(false);
  const bool has_simulated = simulated && simulated->batch;
  const SimulatedPoint* const knee = has_simulated ? evidence.simulated_at(*simulated->batch) : nullptr;
  Choice choice;
  // The simulation's count is among those that the intervals allow, and they allow several. One that was not
  // measured has to be as good as the measured ones.
  const bool agrees = measured && has_simulated && measured->low < measured->high &&
                      *simulated->batch >= measured->low && *simulated->batch <= measured->high &&
                      (evidence.points.at(*simulated->batch) != nullptr ||
                       knee->au >= kSaturatedShare * measured->best_per_s);
  if (measured && measured->batch && !(agrees && *simulated->batch < *measured->batch)) {
    choice = {.workers = *measured->batch, .measured = measured};
  } else if (measured) {
    choice = {.workers = agrees ? *simulated->batch : measured->high,
              .why = measured->low < measured->high
                         ? fmt::format(" ({} to {} are within noise{})", measured->low, measured->high,
                                       agrees ? "; simulation chose" : "")
                         : " (within noise)",
              .measured = measured};
  } else if (harm) {
    choice.workers = harm->best->workers;
  } else if (const LoaderPoint* const better = single_and_better(evidence, knee)) {
    choice = {.workers = better->workers,
              .single = true,
              .why = fmt::format(" (a single count was measured; simulated with {}: AU {:.2f})",
                                 workers_text(knee->workers), knee->au)};
  } else if (has_simulated) {
    choice = {.workers = *simulated->batch,
              .simulated = true,
              .why = evidence.points.pool.empty() ? "" : " (a single count was measured)"};
    if (evidence.of_own_loader()) {
      choice.range = knee_range(evidence.simulated->points);
      choice.why = allowed_counts(*evidence.profile, choice.range);
    }
  } else {
    return std::nullopt;
  }
  choice.more_harm = harm && choice.workers == harm->best->workers;
  if (!choice.simulated && !choice.single && !evidence.not_measured.empty()) {
    choice.why +=
        fmt::format(" (from the measured counts; {} not measured)", fmt::join(evidence.not_measured, ", "));
  }
  if (const LoaderPoint* const point = evidence.points.at(choice.workers); point != nullptr && point->au) {
    choice.au = *point->au;
  } else if (const SimulatedPoint* const other = evidence.simulated_at(choice.workers)) {
    choice.au = other->printed_au();
  } else {
    return std::nullopt;  // neither ready data nor a simulation
  }
  return choice;
}

}  // namespace

std::optional<Finding> claim_recommendation(const Evidence& evidence) {
  const auto choice = choose(evidence);
  if (!choice) {
    return std::nullopt;
  }
  const std::int64_t workers = choice->workers;
  Finding finding = finding_of("recommended_workers", "workers");
  finding.value = static_cast<double>(workers);
  if (choice->measured) {
    finding.set_interval(choice->measured->range(), kOfSizes);
  } else {
    finding.set_interval(choice->range, kOfSizes);
  }
  if (const LoaderPoint* const point = evidence.points.at(workers)) {
    finding.evidence = {point->name};
  }
  finding.details = {{"workers", workers}};
  const char* const basis = !choice->simulated         ? ""
                            : evidence.of_own_loader() ? "Simulated for your loader: "
                                                       : "Simulated: ";
  const std::string au = au_text(choice->au);
  const double slot_bytes =
      evidence.profile ? evidence.profile->slot_bytes : static_cast<double>(evidence.setup.slot_bytes);
  const int gpus = evidence.simulated ? evidence.simulated->gpus : 1;
  if (choice->single && choice->au.value < kFed) {
    finding.claim = fmt::format("Inconclusive: {} with {}{} [give a larger --time-budget]", au,
                                workers_text(workers), choice->why);
    return finding;
  }
  if (workers == 0 && choice->au.value < kFed && !choice->more_harm) {
    finding.claim = fmt::format(
        "{}{} number of workers feeds the consumer{}{}: {} with none, and workers gain "
        "less than 5 %",
        basis, choice->simulated ? "no" : "No", gpus > 1 ? "s" : "", choice->why, au);
    return finding;
  }
  const char* const use = choice->simulated ? "use" : "Use";
  if (workers == 0) {
    finding.details["host_bytes"] = slot_bytes;
    finding.claim = fmt::format("{}{} no workers{}: {}, and workers {} [PyTorch: num_workers=0]", basis, use,
                                choice->why, au, choice->more_harm ? "make it slower" : "gain less than 5 %");
    return finding;
  }
  const std::int64_t prefetch =
      evidence.simulated ? enough_prefetch(*evidence.simulated) : evidence.points.pool.back().prefetch;
  const double all = static_cast<double>(workers) * gpus;
  const double slots = all * static_cast<double>(prefetch) * slot_bytes;
  const double bytes = slots + all * (evidence.profile ? evidence.profile->scratch_bytes_per_worker : 0);
  const bool pinned = evidence.profile ? evidence.profile->pinned : evidence.setup.pinned;
  finding.details["prefetch"] = prefetch;
  finding.details["host_bytes"] = bytes;
  finding.details["slot_bytes"] = slot_bytes;
  finding.details["pinned_bytes"] = pinned ? slots : 0;
  finding.claim =
      fmt::format("{}{} {}{}{}: {}, {} of host memory [PyTorch: num_workers={}, prefetch_factor={}{}]", basis,
                  use, workers_text(workers), gpus > 1 ? " a GPU" : "", choice->why, au,
                  format_bytes(std::llround(bytes)), workers, prefetch, pin_memory(evidence));
  if (evidence.host_memory_bytes > 0 && bytes > evidence.host_memory_bytes) {
    finding.claim += fmt::format("; that does not fit: the host has {}",
                                 format_bytes(std::llround(evidence.host_memory_bytes)));
  }
  return finding;
}

std::optional<Finding> claim_pinning(const Evidence& evidence) {
  const auto both = both_stagings(evidence.points);
  if (!both) {
    return std::nullopt;
  }
  const Estimate& pinned = both->pinned.samples_per_s;
  const Estimate& pageable = both->pageable.samples_per_s;
  Finding finding = finding_of("pinning", "ratio", {both->pinned.name, both->pageable.name});
  finding.set(both->speedup());
  finding.claim = fmt::format(
      "Pinned vs pageable memory, ready data: {:.2f}× ({} and {}; a batch is copied in {} and "
      "{}) [{}]",
      *finding.value, rate_text(pinned.value), rate_text(pageable.value),
      format_duration(both->pinned.copy_ns), format_duration(both->pageable.copy_ns),
      both->pinning_pays() ? "pin" : "don't pin");
  return finding;
}

}  // namespace bench::sweeps
