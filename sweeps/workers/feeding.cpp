// How the consumer is fed at each worker count, measured and simulated, and which GPUs this host could feed.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/text/units.h"
#include "sweeps/workers/findings.h"

namespace bench::sweeps {

std::optional<Finding> claim_starvation(const Evidence& evidence) {
  const auto& pool = evidence.points.pool;
  const auto& ready = evidence.points.ready;
  if (pool.empty() || !pool.front().au || !ready) {
    return std::nullopt;
  }
  const LoaderPoint& fewest = pool.front();
  Finding finding = finding_of("starvation", "1", {fewest.name, ready->name});
  finding.value = std::clamp(1 - fewest.au->value, 0.0, 1.0);
  if (fewest.au->ci95) {
    finding.set_interval(Interval{1 - fewest.au->high(), 1 - fewest.au->low()}, kOfRounds);
  }
  finding.details = {
      {"workers", fewest.workers}, {"step_ns", fewest.step_ns}, {"ready_step_ns", ready->step_ns}};
  // Computing may itself take longer where consumer and workers share the cores.
  const double not_computing = fewest.step_ns - fewest.compute_ns;
  const double lost = std::max(0.0, not_computing - (ready->step_ns - ready->compute_ns));
  finding.claim =
      fewest.au->value >= kFed
          ? fmt::format("With {} the consumer is not starved: {}, a step takes {}, and {} with ready data",
                        workers_text(fewest.workers), au_text(*fewest.au), format_duration(fewest.step_ns),
                        format_duration(ready->step_ns))
          : fmt::format("With {} the consumer is {}: {}, {} {} of a step's {}", workers_text(fewest.workers),
                        fewest.au->value < kStarved ? "starved" : "nearly fed", au_text(*fewest.au),
                        fewest.workers == 0 ? "loading and copying take" : "it waits",
                        format_duration(fewest.workers == 0 ? not_computing : lost),
                        format_duration(fewest.step_ns));
  return finding;
}

std::optional<Finding> claim_ready_data(const Evidence& evidence) {
  const auto& ready = evidence.points.ready;
  if (!ready || !evidence.points.pool.empty()) {
    return std::nullopt;
  }
  Finding finding = finding_of("ready_data", "images/s", {ready->name});
  finding.set(ready->samples_per_s);
  finding.claim =
      fmt::format("Ready data: {} samples/s; no number of workers was measured [give a larger --time-budget]",
                  plus_minus(*finding.value, finding.ci95));
  return finding;
}

std::optional<Finding> claim_knee(const Evidence& evidence) {
  const auto knee = evidence.measured_knee();
  if (!knee) {
    return std::nullopt;
  }
  Finding finding = finding_of("knee", "workers", names_of(evidence.points.pool));
  finding.set_interval(knee->range(), kOfSizes);
  finding.details = {{"plateau_au", knee->best_per_s}, {"plateau_workers", knee->best_batch}};
  if (!knee->batch) {
    finding.claim =
        knee->low == knee->high
            ? fmt::format("The knee is at {}, within noise (plateau: AU {:.2f})", workers_text(knee->low),
                          knee->best_per_s)
            : fmt::format(
                  "The knee lies between {} and {} workers, which are within noise (plateau: AU {:.2f})",
                  knee->low, knee->high, knee->best_per_s);
    return finding;
  }
  finding.value = static_cast<double>(*knee->batch);
  finding.claim = fmt::format("The knee is at {}: {}, 95 % of the plateau's {:.2f} (at {})",
                              workers_text(*knee->batch), au_text(*evidence.points.at(*knee->batch)->au),
                              knee->best_per_s, workers_text(knee->best_batch));
  if (knee->low < *knee->batch) {
    finding.claim += fmt::format("; {} may be enough, within noise", workers_text(knee->low));
  }
  if (knee->at_largest) {
    finding.claim += "; it is the most that was measured, and the plateau may lie beyond";
  }
  if (const auto simulated = evidence.simulated_knee(true); simulated && simulated->batch) {
    finding.details["simulated"] = *simulated->batch;
    finding.details["error_workers"] = *simulated->batch - *knee->batch;
    finding.claim += fmt::format("; simulated at {} of these counts", *simulated->batch);
  }
  return finding;
}

std::optional<Finding> claim_simulated_knee(const Evidence& evidence) {
  const auto knee = evidence.simulated_knee(false);
  if (!knee || !knee->batch) {
    return std::nullopt;
  }
  const Simulated& simulated = *evidence.simulated;
  Finding finding = finding_of("knee_simulated", "workers");
  finding.value = static_cast<double>(*knee->batch);
  finding.set_interval(knee_range(simulated.points), kOfSizes);
  finding.details = {{"plateau_au", knee->best_per_s}};
  finding.claim = fmt::format("Simulated: the knee is at {}{}: AU {:.2f} of at most {:.2f}",
                              workers_text(*knee->batch), simulated.gpus > 1 ? " a GPU" : "",
                              evidence.simulated_at(*knee->batch)->au, knee->best_per_s);
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

std::optional<Finding> claim_simulation_error(const Evidence& evidence) {
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
      "Simulated AU differs from the measured one by {:.3f} on average, {:.3f} at most (with {}{}); each "
      "count is simulated from the others",
      mean / 100, std::abs(worst) / 100, workers_text(at->workers),
      half >= 0.0005 ? fmt::format(", measured ± {:.3f}", half) : "");
  return finding;
}

std::optional<Finding> claim_harm(const Evidence& evidence) {
  const auto harm = evidence.harm();
  if (!harm) {
    return std::nullopt;
  }
  const LoaderPoint& best = *harm->best;
  const LoaderPoint& last = evidence.points.pool.back();
  const double loss = 1 - last.samples_per_s.value / best.samples_per_s.value;
  Finding finding = finding_of("harm", "workers", {best.name, evidence.points.at(harm->from)->name});
  finding.value = static_cast<double>(harm->from);
  finding.details = {{"best_workers", best.workers}, {"loss", loss}};
  finding.claim = fmt::format("From {} on more workers are slower: {} make {} less than {} ({} and {})",
                              workers_text(harm->from), workers_text(last.workers), format_percent(loss),
                              workers_text(best.workers), rate_text(last.samples_per_s.value),
                              rate_text(best.samples_per_s.value));
  return finding;
}

std::vector<Finding> claim_requirements(const Evidence& evidence) {
  std::vector<Finding> findings;
  if (!evidence.simulated) {
    return findings;
  }
  for (const SimulatedRequirement& answer : evidence.simulated->requirements) {
    const auto& [name, samples_per_s, source] = answer.required;
    Finding finding =
        finding_of(fmt::format("demand/{}", name), "workers", names_of(evidence.points.capacity));
    finding.details = {{"images_per_s", samples_per_s},
                       {"gpus", answer.gpus},
                       {"au", answer.au},
                       {"tops_out_images_per_s", answer.max_samples_per_s},
                       {"limited_by", answer.limited_by},
                       {"source", source}};
    const std::string gpu =
        answer.gpus > 1 ? fmt::format("{} of {} ({} each)", answer.gpus, name, rate_text(samples_per_s))
                        : fmt::format("{} ({})", name, rate_text(samples_per_s));
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
        limit = fmt::format("copying a batch, which takes {}",
                            format_duration(evidence.profile->pipeline.copy_ns));
      }
      finding.claim =
          fmt::format("Simulated: this host cannot feed {}: AU {:.2f} at best, limited by {} ({})", gpu,
                      answer.au, limit, rate_text(answer.max_samples_per_s));
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace bench::sweeps
