#include "sweeps/workers/findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "sweeps/workers/limits.h"

namespace bench::sweeps {
namespace {

// One window has no interval, and proves nothing.
Estimate cautious(Estimate estimate) {
  if (!estimate.ci95) {
    estimate.ci95 = Interval{0, 2 * estimate.value};
  }
  return estimate;
}

std::string points_text(double share) {
  return fmt::format("{:.1f} points", 100 * std::abs(share));
}

// ---------- the recommendation

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

  // Faster beyond both intervals, and by what is worth the trouble.
  bool pinning_pays() const {
    constexpr double kWorthIt = 1.01;
    return pinned.images_per_s.low() > pageable.images_per_s.high() &&
           pinned.images_per_s.value > kWorthIt * pageable.images_per_s.value;
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
  const std::string& device =
      evidence.profile ? evidence.profile->consumer_device : evidence.setup.consumer_device;
  return device.empty() || device == "none" ? ""
         : device == "cpu"                  ? ", pin_memory=False"
                                            : ", pin_memory=True";
}

std::optional<Finding> recommended_finding(const Evidence& evidence) {
  const auto measured = evidence.measured_knee();
  const auto simulated = evidence.simulated_knee(false);
  const bool by_measuring = measured && measured->workers;
  const bool by_simulating = !by_measuring && simulated && simulated->workers;
  if (!measured && !by_simulating) {
    return std::nullopt;
  }
  const std::int64_t workers = by_measuring    ? *measured->workers
                               : by_simulating ? *simulated->workers
                                               : measured->high;
  Finding finding = finding_of("recommended_workers", "workers");
  finding.value = static_cast<double>(workers);
  Estimate au;
  if (by_simulating) {
    au.value = evidence.simulated_at(workers)->au;
  } else {
    au = *evidence.points.at(workers)->au;
    finding.evidence = {evidence.points.at(workers)->name};
    finding.ci95 = Interval{static_cast<double>(measured->low), static_cast<double>(measured->high)};
  }
  finding.details = {{"workers", workers}};
  const char* const use = by_simulating ? "Simulated: use" : "Use";
  const double slot_bytes =
      evidence.profile ? evidence.profile->slot_bytes : static_cast<double>(evidence.setup.slot_bytes);
  const int gpus = evidence.simulated ? evidence.simulated->gpus : 1;
  if (workers == 0 && au.value < kFed) {
    finding.claim = fmt::format(
        "{} number of workers feeds the consumer{}: AU {} with none, and workers gain less "
        "than 5 %",
        by_simulating ? "Simulated: no" : "No", gpus > 1 ? "s" : "", au_text(au));
    return finding;
  }
  if (workers == 0) {
    finding.details["host_bytes"] = slot_bytes;
    finding.claim = fmt::format(
        "{} no workers: making a batch costs so little that workers gain less than 5 % "
        "(AU {}) [PyTorch: num_workers=0]",
        use, au_text(au));
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
  std::string certainty;
  if (!by_measuring && !by_simulating) {
    certainty = measured->low < measured->high
                    ? fmt::format(" ({} to {} are within noise)", measured->low, measured->high)
                    : " (within noise)";
  }
  finding.claim =
      fmt::format("{} {}{}{}: AU {}, {} of host memory [PyTorch: num_workers={}, prefetch_factor={}{}]", use,
                  workers_text(workers), gpus > 1 ? " a GPU" : "", certainty, au_text(au),
                  format_bytes(std::llround(bytes)), workers, prefetch, pin_memory(evidence));
  if (evidence.host_memory_bytes > 0 && bytes > evidence.host_memory_bytes) {
    finding.claim += fmt::format("; that does not fit: the host has {}",
                                 format_bytes(std::llround(evidence.host_memory_bytes)));
  }
  return finding;
}

std::optional<Finding> pinning_finding(const Evidence& evidence) {
  const auto both = both_stagings(evidence.points);
  if (!both) {
    return std::nullopt;
  }
  const Estimate& pinned = both->pinned.images_per_s;
  const Estimate& pageable = both->pageable.images_per_s;
  Finding finding = finding_of("pinning", "ratio", {both->pinned.name, both->pageable.name});
  finding.value = pinned.value / pageable.value;
  finding.ci95 = Interval{pinned.low() / pageable.high(), pinned.high() / pageable.low()};
  finding.claim = fmt::format(
      "Pinned vs pageable memory, ready data: {:.2f}× ({} and {}; a batch is copied in {} and "
      "{}) [{}]",
      *finding.value, images_text(pinned.value), images_text(pageable.value),
      format_duration(both->pinned.copy_ns), format_duration(both->pageable.copy_ns),
      both->pinning_pays() ? "pin" : "don't pin");
  return finding;
}

// ---------- the knee

std::optional<Finding> starvation_finding(const Evidence& evidence) {
  const auto& [pool, other_order, capacity, ready, other_staging] = evidence.points;
  if (pool.empty() || !pool.front().au || !ready) {
    return std::nullopt;
  }
  const LoaderPoint& fewest = pool.front();
  Finding finding = finding_of("starvation", "1", {fewest.name, ready->name});
  finding.value = std::clamp(1 - fewest.au->value, 0.0, 1.0);
  if (fewest.au->ci95) {
    finding.ci95 = Interval{1 - fewest.au->high(), 1 - fewest.au->low()};
  }
  finding.details = {
      {"workers", fewest.workers}, {"step_ns", fewest.step_ns}, {"ready_step_ns", ready->step_ns}};
  // Computing may itself take longer where consumer and workers share the cores.
  const double lost = fewest.step_ns - fewest.compute_ns - (ready->step_ns - ready->compute_ns);
  finding.claim =
      *finding.value < 1 - kFed
          ? fmt::format("With {} the consumer is not starved: AU {}, a step takes {}, and {} with ready data",
                        workers_text(fewest.workers), au_text(*fewest.au), format_duration(fewest.step_ns),
                        format_duration(ready->step_ns))
          : fmt::format("With {} the consumer is starved: AU {}, it waits {} of a step's {}",
                        workers_text(fewest.workers), au_text(*fewest.au),
                        format_duration(std::max(0.0, lost)), format_duration(fewest.step_ns));
  return finding;
}

std::optional<Finding> simulated_knee_finding(const Evidence& evidence) {
  const auto knee = evidence.simulated_knee(false);
  if (!knee || !knee->workers) {
    return std::nullopt;
  }
  const Simulated& simulated = *evidence.simulated;
  Finding finding = finding_of("knee_simulated", "workers");
  finding.value = static_cast<double>(*knee->workers);
  finding.details = {{"plateau_au", knee->plateau_au}};
  finding.claim = fmt::format("Simulated: the knee is at {}{}: AU {:.2f} of at most {:.2f}",
                              workers_text(*knee->workers), simulated.gpus > 1 ? " a GPU" : "",
                              evidence.simulated_at(*knee->workers)->au, knee->plateau_au);
  if (simulated.gpus > 1) {
    finding.claim += fmt::format("; {} GPUs share the host", simulated.gpus);
  }
  if (simulated.cores != simulated.measured_cores) {
    finding.claim +=
        fmt::format("; {:g} cores is an extrapolation from {:g}", simulated.cores, simulated.measured_cores);
    finding.details["extrapolated"] = true;
  }
  return finding;
}

std::optional<Finding> simulation_error_finding(const Evidence& evidence) {
  Finding finding = finding_of("simulation_error", "points");
  finding.details = {{"points", Json::array()}};
  double worst = 0;
  double sum = 0;
  const LoaderPoint* at = nullptr;
  for (const LoaderPoint& point : evidence.points.pool) {
    const SimulatedPoint* const simulated = evidence.simulated_at(point.workers);
    if (simulated == nullptr || !simulated->held_out_au || !point.au) {
      continue;
    }
    const double error = 100 * (*simulated->held_out_au - point.au->value);
    finding.details["points"].push_back({{"workers", point.workers},
                                         {"measured_au", point.au->value},
                                         {"simulated_au", simulated->au},
                                         {"held_out_au", *simulated->held_out_au},
                                         {"error_points", error}});
    finding.evidence.push_back(point.name);
    sum += std::abs(error);
    if (std::abs(error) >= std::abs(worst)) {
      worst = error;
      at = &point;
    }
  }
  if (at == nullptr) {
    return std::nullopt;
  }
  const double mean = sum / static_cast<double>(finding.evidence.size());
  const double half = (at->au->high() - at->au->low()) / 2;
  finding.value = std::abs(worst);
  finding.details["mean_points"] = mean;
  if (half > 0) {
    finding.details["worst_measured_half_points"] = 100 * half;
  }
  finding.claim = fmt::format(
      "The simulation's AU is off by at most {} (with {}{}), {} on average, at {} count{} "
      "simulated from the others",
      points_text(worst / 100), workers_text(at->workers),
      half > 0 ? fmt::format(", measured to ±{:.1f}", 100 * half) : "", points_text(mean / 100),
      finding.evidence.size(), finding.evidence.size() == 1 ? "" : "s");
  return finding;
}

std::optional<Finding> harm_finding(const Evidence& evidence) {
  std::vector<WorkersValue> rates;
  for (const LoaderPoint& point : evidence.points.pool) {
    rates.push_back({point.workers, cautious(point.images_per_s)});
  }
  const auto harm = find_harm(rates);
  if (!harm) {
    return std::nullopt;
  }
  const WorkersValue& best =
      *std::ranges::max_element(rates, {}, [](const WorkersValue& point) { return point.value.value; });
  const WorkersValue& last = rates.back();
  const double loss = 1 - last.value.value / best.value.value;
  Finding finding = finding_of("harm", "workers",
                               {evidence.points.at(best.workers)->name, evidence.points.at(*harm)->name});
  finding.value = static_cast<double>(*harm);
  finding.details = {{"best_workers", best.workers}, {"loss", loss}};
  finding.claim =
      fmt::format("From {} on more workers are slower: {} makes {} less than {} ({} and {})",
                  workers_text(*harm), workers_text(last.workers), format_percent(loss),
                  workers_text(best.workers), images_text(last.value.value), images_text(best.value.value));
  return finding;
}

// ---------- required throughput, damaged files

std::vector<Finding> requirement_findings(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (!evidence.simulated) {
    return findings;
  }
  for (const SimulatedRequirement& answer : evidence.simulated->requirements) {
    const auto& [name, images_per_s, source] = answer.required;
    Finding finding =
        finding_of(fmt::format("demand/{}", name), "workers", names_of(evidence.points.capacity));
    finding.details = {{"images_per_s", images_per_s},
                       {"gpus", answer.gpus},
                       {"au", answer.au},
                       {"tops_out_images_per_s", answer.tops_out},
                       {"limited_by", answer.limited_by},
                       {"source", source}};
    const std::string gpu =
        answer.gpus > 1 ? fmt::format("{} of {} ({} each)", answer.gpus, name, images_text(images_per_s))
                        : fmt::format("{} ({})", name, images_text(images_per_s));
    if (answer.workers) {
      finding.value = static_cast<double>(*answer.workers);
      finding.claim =
          fmt::format("Simulated: {} need{} {}{} on this host (AU {:.2f})", gpu, answer.gpus > 1 ? "" : "s",
                      workers_text(*answer.workers), answer.gpus > 1 ? " each" : "", answer.au);
    } else {
      std::string limit = "the cores";
      if (answer.limited_by == "storage") {
        limit = "storage";
      } else if (answer.limited_by == "copy" && evidence.profile) {
        limit = fmt::format("copying a batch, which takes {},", format_duration(evidence.profile->copy_ns));
      }
      finding.claim =
          fmt::format("Simulated: this host cannot feed {}: AU {:.2f} at best, {} is the limit ({})", gpu,
                      answer.au, limit, images_text(answer.tops_out));
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::optional<Finding> bad_files_finding(const Evidence& evidence) {
  constexpr std::size_t kNamed = 10;
  constexpr std::size_t kLongestReason = 200;
  const std::vector<std::pair<std::string, std::string>> files =
      evidence.setup.found ? evidence.setup.found->bad_files
                           : std::vector<std::pair<std::string, std::string>>();
  std::int64_t count = std::ssize(files);
  Finding finding = finding_of("bad_files", "files");
  for (const auto* list : {&evidence.points.capacity, &evidence.points.pool}) {
    for (const LoaderPoint& point : *list) {
      count = std::max(count, point.bad_files);
      if (point.bad_files > 0) {
        finding.evidence.push_back(point.name);
      }
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  finding.value = static_cast<double>(count);
  std::vector<std::string> named;
  for (const auto& [file, reason] : files) {
    if (named.size() < kNamed) {
      named.push_back(fmt::format("{} ({})", printable(file), printable(reason, kLongestReason)));
    }
  }
  const std::int64_t more = count - std::ssize(named);
  finding.claim = fmt::format("{} skipped as unusable{}{}{}",
                              count == 1 ? "1 file was" : fmt::format("{} files were", count),
                              named.empty() ? "" : ": ", fmt::join(named, ", "),
                              more > 0 && !named.empty() ? fmt::format(" and {} more", more) : "");
  return finding;
}

// The five that answer the sweep's question, the recommendation first.
void choose_headlines(std::vector<Finding>& findings) {
  constexpr int kMost = 5;
  int chosen = 0;
  const auto take = [&](const char* name, int most) {
    for (Finding& finding : findings) {
      if (chosen < most && finding.name.starts_with(name)) {
        finding.headline = ++chosen;
      }
    }
  };
  const bool has_error = std::ranges::count(findings, "simulation_error", &Finding::name) > 0;
  const int most = has_error ? kMost - 1 : kMost;  // how sure comes last
  take("recommended_workers", most);
  take("bad_files", most);
  take("demand/", most - 1);
  take("plateau", most);
  take("harm", most);
  take("starvation", most);
  take("stages", most);
  take("simulation_error", kMost);
}

}  // namespace

std::optional<Knee> Evidence::measured_knee() const {
  std::vector<WorkersValue> au;
  for (const LoaderPoint& point : points.pool) {
    if (point.au) {
      au.push_back({point.workers, cautious(*point.au)});
    }
  }
  return find_knee(au);
}

std::optional<Knee> Evidence::simulated_knee(bool measured_counts_only) const {
  std::vector<WorkersValue> au;
  for (const SimulatedPoint& point : simulated ? simulated->points : std::vector<SimulatedPoint>()) {
    if (!measured_counts_only || points.at(point.workers) != nullptr) {
      au.push_back({point.workers, {.value = point.au}});
    }
  }
  return find_knee(au);
}

const SimulatedPoint* Evidence::simulated_at(std::int64_t workers) const {
  if (!simulated) {
    return nullptr;
  }
  const auto found = std::ranges::find(simulated->points, workers, &SimulatedPoint::workers);
  return found == simulated->points.end() ? nullptr : &*found;
}

std::string workers_text(std::int64_t workers) {
  return workers == 0 ? "no workers" : fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

std::string images_text(double images_per_s) {
  return fmt::format("{} images/s", format_number(images_per_s));
}

std::string au_text(const Estimate& au) {
  const double half = std::max(0.001, (au.high() - au.low()) / 2);
  const int digits = au.ci95 && half < 0.005 ? 3 : 2;
  return au.ci95 ? fmt::format("{:.{}f} ±{:.{}f}", au.value, digits, half, digits)
                 : fmt::format("{:.2f}", au.value);
}

std::vector<std::string> names_of(const std::vector<LoaderPoint>& points) {
  std::vector<std::string> names;
  for (const LoaderPoint& point : points) {
    names.push_back(point.name);
  }
  return names;
}

std::optional<Finding> knee_finding(const Evidence& evidence) {
  const auto knee = evidence.measured_knee();
  if (!knee) {
    return std::nullopt;
  }
  Finding finding = finding_of("knee", "workers", names_of(evidence.points.pool));
  finding.ci95 = Interval{static_cast<double>(knee->low), static_cast<double>(knee->high)};
  finding.details = {{"plateau_au", knee->plateau_au}, {"plateau_workers", knee->plateau_workers}};
  if (!knee->workers) {
    finding.claim =
        knee->low == knee->high
            ? fmt::format("The knee is at {}, within noise (plateau: AU {:.2f})", workers_text(knee->low),
                          knee->plateau_au)
            : fmt::format(
                  "The knee lies between {} and {} workers, which are within noise (plateau: AU {:.2f})",
                  knee->low, knee->high, knee->plateau_au);
    return finding;
  }
  finding.value = static_cast<double>(*knee->workers);
  finding.claim = fmt::format("The knee is at {}: AU {}, 95 % of the plateau's {:.2f} (at {})",
                              workers_text(*knee->workers), au_text(*evidence.points.at(*knee->workers)->au),
                              knee->plateau_au, workers_text(knee->plateau_workers));
  if (knee->low < *knee->workers) {
    finding.claim += fmt::format("; {} may be enough, within noise", workers_text(knee->low));
  }
  if (knee->at_largest) {
    finding.claim += "; it is the most that was measured, and the plateau may lie beyond";
  }
  if (const auto simulated = evidence.simulated_knee(true); simulated && simulated->workers) {
    finding.details["simulated"] = *simulated->workers;
    finding.details["error_workers"] = *simulated->workers - *knee->workers;
    finding.claim += fmt::format("; simulated at {} of these counts", *simulated->workers);
  }
  return finding;
}

std::vector<Finding> workers_findings(const Evidence& evidence) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> one) {
    if (one) {
      findings.push_back(std::move(*one));
    }
  };
  add(recommended_finding(evidence));
  add(starvation_finding(evidence));
  add(knee_finding(evidence));
  add(simulated_knee_finding(evidence));
  add(simulation_error_finding(evidence));
  add(plateau_finding(evidence));
  add(harm_finding(evidence));
  add(stages_finding(evidence));
  add(scaling_finding(evidence));
  add(slowdown_finding(evidence));
  std::ranges::move(requirement_findings(evidence), std::back_inserter(findings));
  add(pinning_finding(evidence));
  add(bad_files_finding(evidence));
  choose_headlines(findings);
  return findings;
}

}  // namespace bench::sweeps
