// Claims about the knee: as measured, as simulated, and how well the two agree.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {
namespace {

std::vector<std::string> names_of(const std::vector<LoaderPoint>& points) {
  std::vector<std::string> names;
  for (const LoaderPoint& point : points) {
    names.push_back(point.name);
  }
  return names;
}

// "0.97 (0.96 to 0.98)".
std::string au_text(const Measured& au) {
  if (au.ci95.low == au.ci95.high) {  // of one window no interval can be told
    return fmt::format("{:.2f}", au.value);
  }
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", au.value, au.ci95.low, au.ci95.high);
}

}  // namespace

std::optional<Finding> claim_starvation(const LoaderEvidence& evidence) {
  const LoaderPoints& points = evidence.points;
  if (points.pool.empty() || !points.pool.front().au || !points.ready) {
    return std::nullopt;
  }
  const LoaderPoint& fewest = points.pool.front();
  Finding finding = claim_of("starvation", "1", {fewest.name, points.ready->name});
  finding.value = std::clamp(1 - fewest.au->value, 0.0, 1.0);
  if (fewest.au->ci95.low < fewest.au->ci95.high) {
    finding.ci95 = Interval{1 - fewest.au->ci95.high, 1 - fewest.au->ci95.low};
  }
  finding.details = {
      {"workers", fewest.workers}, {"step_ns", fewest.step_ns}, {"ready_step_ns", points.ready->step_ns}};
  // What a step takes beyond computing, which may itself take longer where both share the cores.
  const double lost = fewest.step_ns - fewest.compute_ns - (points.ready->step_ns - points.ready->compute_ns);
  finding.claim =
      *finding.value < 1 - kFed
          ? fmt::format("With {} the consumer is not starved: AU {}, a step takes {} and {} with ready data.",
                        workers_text(fewest.workers), au_text(*fewest.au), format_duration(fewest.step_ns),
                        format_duration(points.ready->step_ns))
          : fmt::format(
                "With {} the consumer is starved: AU {}, of a step's {} it waits {} more than with "
                "ready data.",
                workers_text(fewest.workers), au_text(*fewest.au), format_duration(fewest.step_ns),
                format_duration(std::max(0.0, lost)));
  if (fewest.compute_ns > kSlower * points.ready->compute_ns) {
    finding.claim +=
        fmt::format(" Computing itself takes {} instead of {}, for the loader takes cores from it.",
                    format_duration(fewest.compute_ns), format_duration(points.ready->compute_ns));
  }
  if (fewest.few_rounds || points.ready->few_rounds) {
    finding.claim += " This is from too few rounds: another run may differ by much.";
  }
  return finding;
}

std::optional<Finding> claim_knee(const LoaderEvidence& evidence) {
  const auto knee = evidence.measured_knee();
  if (!knee) {
    return std::nullopt;
  }
  Finding finding = claim_of("knee", "workers", names_of(evidence.points.pool));
  finding.details = {{"plateau_au", knee->best_per_s}, {"plateau_workers", knee->best_batch}};
  const auto simulated = evidence.simulated_knee(true);
  if (!knee->batch) {
    finding.ci95 = Interval{static_cast<double>(knee->low), static_cast<double>(knee->high)};
    finding.claim = knee->low == knee->high
                        ? fmt::format(
                              "The knee seems to be at {}, but no point is certain enough to prove it "
                              "(plateau: AU {:.2f}).",
                              workers_text(knee->low), knee->best_per_s)
                        : fmt::format(
                              "The knee lies between {} and {} workers; no point is certain enough to say "
                              "where (plateau: AU {:.2f}).",
                              knee->low, knee->high, knee->best_per_s);
    return finding;
  }
  finding.value = static_cast<double>(*knee->batch);
  finding.ci95 = Interval{static_cast<double>(knee->low), static_cast<double>(knee->high)};
  const LoaderPoint& at = *evidence.points.at(*knee->batch);
  const std::string open =
      knee->low < *knee->batch
          ? fmt::format(", and may be at {}, whose AU scatters too much to tell", workers_text(knee->low))
          : "";
  std::string claim = fmt::format("The knee is at {}: AU {}, 95 % of the plateau's {:.2f} (at {}){}.",
                                  workers_text(*knee->batch), au_text(*at.au), knee->best_per_s,
                                  workers_text(knee->best_batch), open);
  if (knee->at_largest) {
    claim += " It is the most that was measured: the plateau may lie beyond.";
  }
  if (simulated && simulated->batch) {
    const std::int64_t error = *simulated->batch - *knee->batch;
    finding.details["simulated"] = *simulated->batch;
    finding.details["error_workers"] = error;
    claim += error == 0 ? " The simulation puts it at the same of these counts."
                        : fmt::format(" The simulation puts it at {} of these counts.", *simulated->batch);
  }
  finding.claim = claim;
  return finding;
}

std::optional<Finding> claim_simulated_knee(const LoaderEvidence& evidence) {
  const auto knee = evidence.simulated_knee(false);
  if (!knee || !knee->batch) {
    return std::nullopt;
  }
  const Simulated& simulated = *evidence.simulated;
  Finding finding = claim_of("knee_simulated", "workers");
  finding.value = static_cast<double>(*knee->batch);
  finding.details = {{"plateau_au", knee->best_per_s}};
  const SimulatedPoint& at = *evidence.simulated_at(*knee->batch);
  finding.claim =
      fmt::format("Simulated: the knee is at {}{}, with an AU of {:.2f} of at most {:.2f}.",
                  workers_text(*knee->batch), simulated.gpus > 1 ? " a GPU" : "", at.au, knee->best_per_s);
  if (simulated.gpus > 1) {
    finding.claim += fmt::format(" {} GPUs share the host.", simulated.gpus);
  }
  if (simulated.cores != simulated.measured_cores) {
    finding.claim +=
        fmt::format(" On {:g} cores where {:g} were measured: an extrapolation of the loader's law.",
                    simulated.cores, simulated.measured_cores);
    finding.details["extrapolated"] = true;
  }
  return finding;
}

std::optional<Finding> claim_simulation_error(const LoaderEvidence& evidence) {
  Finding finding = claim_of("simulation_error", "points");
  finding.details = {{"points", Json::array()}};
  double worst = 0;
  double sum = 0;
  std::int64_t worst_workers = 0;
  Interval worst_ci95{};
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
      worst_workers = point.workers;
      worst_ci95 = point.au->ci95;
    }
  }
  if (finding.evidence.empty()) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(finding.evidence.size());
  finding.value = std::abs(worst);
  finding.details["mean_points"] = sum / count;
  finding.claim = fmt::format(
      "Simulated AU is off by at most {} (with {}, where it is {}), {} on average over {} counts, each "
      "simulated from what was measured at the others.",
      points_text(worst / 100), workers_text(worst_workers), worst > 0 ? "too high" : "too low",
      points_text(sum / count / 100), finding.evidence.size());
  if (const double half = (worst_ci95.high - worst_ci95.low) / 2; half > 0) {
    finding.details["worst_measured_half_points"] = 100 * half;
    finding.claim += fmt::format(" The measured AU there is itself known to ±{} only.", points_text(half));
  }
  return finding;
}

std::optional<Finding> claim_harm(const LoaderEvidence& evidence) {
  const auto rates = evidence.measured_rates();
  const auto harm = find_harm(rates);
  if (!harm) {
    return std::nullopt;
  }
  const WorkersValue& best =
      *std::ranges::max_element(rates, {}, [](const WorkersValue& point) { return point.value.value; });
  const WorkersValue& last = rates.back();
  Finding finding =
      claim_of("harm", "workers", {evidence.points.at(best.workers)->name, evidence.points.at(*harm)->name});
  finding.value = static_cast<double>(*harm);
  finding.details = {{"best_workers", best.workers}, {"loss", 1 - last.value.value / best.value.value}};
  finding.claim =
      fmt::format("From {} on more workers do harm: {} with {}, {} with {} ({} less).", workers_text(*harm),
                  images_text(last.value.value), workers_text(last.workers), images_text(best.value.value),
                  workers_text(best.workers), format_percent(1 - last.value.value / best.value.value));
  return finding;
}

}  // namespace bench::sweeps
