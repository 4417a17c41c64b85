// A measured loader under other settings, for `bench advise`: the profile of a workers result, simulated.
#include "bench/advise/loading_model.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/error.h"
#include "bench/evaluate/host_limit.h"
#include "bench/registry.h"
#include "bench/stats/statistics.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/simulated.h"

namespace bench::sweeps {
namespace {

// Times of a batch with `ratio` times as many samples: the mean grows with it, the deviation with its square
// root, since samples vary independently.
std::vector<double> of_other_batch(std::vector<double> times, double ratio) {
  if (times.empty()) {
    return times;
  }
  const double middle = mean(times);
  for (double& time : times) {
    time = std::max(0.1 * ratio * middle, ratio * middle + std::sqrt(ratio) * (time - middle));
  }
  return times;
}

// As the system shares its cores among threads that all compute: the device has one for each core, a worker
// has one.
std::vector<simulator::CoreSharing> fair_shares(std::int64_t workers, double cores) {
  std::vector<simulator::CoreSharing> shares;
  for (std::int64_t active = 0; active <= workers && workers > 0; ++active) {
    const double speed = cores / (cores + static_cast<double>(active));
    shares.push_back({.active = static_cast<double>(active),
                      .consumer_speed = speed,
                      .worker_speed = active > 0 ? speed : 1});
  }
  return shares;
}

// AU measured and simulated from a profile without that count.
std::optional<double> held_out_error(const std::vector<LoaderPoint>& measured, const Json& sweep) {
  const auto simulated = read_simulated(sweep);
  double squares = 0;
  int count = 0;
  for (const LoaderPoint& point : measured) {
    const SimulatedPoint* const same = simulated ? simulated->at(point.workers) : nullptr;
    if (same != nullptr && same->held_out_au && point.au && point.au->value > 0) {
      const double error = std::log(*same->held_out_au / point.au->value);
      squares += error * error;
      ++count;
    }
  }
  return count > 0 ? std::optional(std::sqrt(squares / count)) : std::nullopt;
}

// A measured worker count, with the profile's prefetch and order.
struct MeasuredStep {
  std::int64_t workers = 0;
  double step_ns = 0;
  double computing_ns = 0;
  double deviation = 0;  // of the logarithm
};

std::vector<MeasuredStep> measured_steps(const std::vector<LoaderPoint>& measured, double batch) {
  constexpr double kUnknown = 0.05;  // without an interval
  std::vector<MeasuredStep> steps;
  for (const LoaderPoint& point : measured) {
    const Estimate& rate = point.samples_per_s;
    if (point.compute_ns > 0 && rate.value > 0) {
      steps.push_back(
          {.workers = point.workers,
           .step_ns = batch * 1e9 / rate.value,
           .computing_ns = point.compute_ns,
           .deviation = rate.ci95 && rate.low() > 0 ? log_deviation(*rate.ci95, kNormal95) : kUnknown});
    }
  }
  return steps;
}

// A few noisy rounds tell less of a step than the simulation does, which all counts' rounds feed: each
// weighs by the inverse of its variance.
MeasuredStep better_known(MeasuredStep step, double simulated_ns, std::optional<double> held_out_error) {
  constexpr double kLeastError = 0.05;  // of a simulation, whatever the few counts left out say
  const double error = std::max(kLeastError, held_out_error.value_or(2 * kLeastError));
  if (step.deviation <= error) {
    return step;
  }
  const double measured_weight = 1 / (step.deviation * step.deviation);
  const double simulated_weight = 1 / (error * error);
  const double weight = measured_weight + simulated_weight;
  const double shift = std::log(simulated_ns / step.step_ns) * simulated_weight / weight;
  step.step_ns *= std::exp(shift);
  step.deviation = 1 / std::sqrt(weight);
  return step;
}

// Cores that other programs kept busy, on average over all repetitions that say so.
double mean_other_cores(const ResultDocument& document) {
  std::vector<double> cores;
  for (const Point& point : measured_points(document)) {
    for (const MeasuredRound& round : point.rounds) {
      if (round.other_cores) {
        cores.push_back(*round.other_cores);
      }
    }
  }
  return mean(cores);
}

std::vector<std::int64_t> counts_out_of_memory(const ResultDocument& document) {
  std::vector<std::int64_t> counts;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (const auto params = read_loader_params(point.params);
        point.status == "oom" && params && params->loader == "pool") {
      counts.push_back(params->workers);
    }
  }
  return counts;
}

// That the consumer computes in. Of simulated results those of a user's loader count whose consumer is a
// time, which has none.
std::string dtype_of(const Json& sweep, const Profile& profile) {
  if (sweep.contains("loader")) {
    return sweep.at("loader").at("dtype").get<std::string>();
  }
  const bool is_time = !profile.consumer.empty() && profile.consumer[0] >= '0' && profile.consumer[0] <= '9';
  if (profile.loader.empty() || !is_time) {
    throw UsageError(
        "a simulated result; accepted: the measured one that it comes from, or one of --samples with "
        "--consumer TIME");
  }
  return "fp32";
}

class SimulatedLoading final : public LoadingModel {
 public:
  SimulatedLoading(const ResultDocument& document, bool device_on_cores)
      : SimulatedLoading(document, read_measured(document.sweep.state), device_on_cores) {}

  LoadedStep step(const TrainingSettings& settings, double compute_ns,
                  std::optional<double> copy_ns) const override {
    const MeasuredStep* const measured = measured_at(settings, compute_ns, copy_ns);
    if (measured == nullptr) {
      return parts_of(settings, compute_ns, copy_ns);
    }
    TrainingSettings as_measured = settings;
    as_measured.prefetch = profile_.pipeline.prefetch;
    const MeasuredStep best =
        better_known(*measured, parts_of(as_measured, compute_ns, copy_ns).step_ns, facts().error);
    if (settings == as_measured) {
      LoadedStep step = parts_of(settings, compute_ns, copy_ns, &best, best.step_ns);
      step.measured_deviation = best.deviation;
      return step;
    }
    // The simulation tells what another prefetch changes; what it does not know of these workers stays.
    const double change =
        parts_of(settings, compute_ns, copy_ns).step_ns / parts_of(as_measured, compute_ns, copy_ns).step_ns;
    return parts_of(settings, compute_ns, copy_ns, &best, change * best.step_ns);
  }

  Bottleneck limit(const TrainingSettings& settings, double compute_ns,
                   std::optional<double> copy_ns) const override {
    const simulator::Pipeline pipeline = pipeline_with(settings, compute_ns, copy_ns);
    const std::string limit = simulate_point(pipeline).limited_by;
    if (limit == "consumer" || limit == "copy") {
      return limit == "copy" ? Bottleneck::bus : Bottleneck::compute;
    }
    if (limit == "storage") {
      return Bottleneck::storage;
    }
    // Busy workers: with reading, or with the rest?
    const double read_ns = pipeline.storage ? pipeline.storage->transfer_ns(pipeline.sample_bytes_read) +
                                                  pipeline.storage->latency_ns
                                            : 0;
    const double work_ns = mean(pipeline.batch_work_ns) / static_cast<double>(pipeline.batch);
    return read_ns > work_ns ? Bottleneck::storage : Bottleneck::loader_cpu;
  }

  double host_bytes(const TrainingSettings& settings) const override {
    const auto cards = static_cast<double>(settings.cards);
    const auto workers = static_cast<double>(settings.workers);
    const double slots = std::max(1.0, workers * static_cast<double>(settings.prefetch));
    return cards *
           (slots * profile_.slot_bytes * ratio_of(settings) + workers * profile_.scratch_bytes_per_worker);
  }

  bool ran_out_of_memory(const TrainingSettings& settings) const override {
    return settings.batch == profile_.pipeline.batch && settings.prefetch == profile_.pipeline.prefetch &&
           std::ranges::count(out_of_memory_, settings.workers) > 0;
  }

 private:
  SimulatedLoading(const ResultDocument& document, const std::vector<LoaderPoint>& measured,
                   bool device_on_cores)
      : profile_(profile_in(document.sweep.state)),
        measured_(measured_steps(measured, static_cast<double>(profile_.pipeline.batch))),
        out_of_memory_(counts_out_of_memory(document)),
        assumes_sharing_(device_on_cores && !profile_.consumer_on_cores) {
    facts_ = {.measured = {.batch = profile_.pipeline.batch,
                           .prefetch = profile_.pipeline.prefetch,
                           .pin = profile_.pinned,
                           .dtype = dtype_of(document.sweep.state, profile_)},
              .compute_ns = median(profile_.pipeline.compute_ns),
              .measured_on_cores = profile_.consumer_on_cores,
              .cores = profile_.law.law.cores,
              .other_cores = mean_other_cores(document),
              .samples_per_s_of_a_worker = profile_.law.law.one,
              .error = held_out_error(measured, document.sweep.state),
              .consumer = profile_.consumer};
    for (const std::int64_t workers : profile_.law.workers) {
      facts_.most_workers = std::max(facts_.most_workers, workers);
    }
    for (const MeasuredStep& step : measured_) {
      facts_.most_workers = std::max(facts_.most_workers, step.workers);
    }
  }

  // nullptr where another step or copy than the measured one is asked for.
  const MeasuredStep* measured_at(const TrainingSettings& settings, double compute_ns,
                                  std::optional<double> copy_ns) const {
    constexpr double kSame = 0.01;
    const double own = facts().compute_ns;
    if (settings.batch != profile_.pipeline.batch || settings.cards != 1 || copy_ns ||
        std::abs(compute_ns - own) > kSame * own) {
      return nullptr;
    }
    const auto found = std::ranges::find(measured_, settings.workers, &MeasuredStep::workers);
    return found == measured_.end() ? nullptr : &*found;
  }

  // `measured`: of these workers, whose computing takes the simulated one's place, and `whole_ns` that of the
  // step.
  LoadedStep parts_of(const TrainingSettings& settings, double compute_ns, std::optional<double> copy_ns,
                      const MeasuredStep* measured = nullptr, double whole_ns = 0) const {
    const simulator::Pipeline pipeline = pipeline_with(settings, compute_ns, copy_ns);
    const simulator::Outcome outcome = simulator::simulate(pipeline);
    LoadedStep step;
    step.step_ns = measured != nullptr ? whole_ns
                                       : static_cast<double>(settings.batch * pipeline.consumers) /
                                             outcome.samples_per_s * 1e9;
    step.computing_ns =
        std::min(step.step_ns, measured != nullptr ? measured->computing_ns : outcome.compute_ns);
    const double exposed =
        pipeline.lookahead ? std::max(0.0, pipeline.copy_ns - step.computing_ns) : pipeline.copy_ns;
    step.copying_ns = std::min(step.step_ns - step.computing_ns, exposed);
    step.handover_ns = std::min(step.step_ns - step.computing_ns - step.copying_ns, pipeline.gap_ns);
    step.waiting_ns = step.step_ns - step.computing_ns - step.copying_ns - step.handover_ns;
    return step;
  }

  double ratio_of(const TrainingSettings& settings) const {
    return static_cast<double>(settings.batch) / static_cast<double>(profile_.pipeline.batch);
  }

  simulator::Pipeline pipeline_with(const TrainingSettings& settings, double compute_ns,
                                    std::optional<double> copy_ns) const {
    simulator::Pipeline pipeline = pipeline_of(profile_, settings.workers);
    pipeline.consumers = settings.cards;
    pipeline.prefetch = settings.prefetch;
    if (assumes_sharing_) {
      pipeline.shared_cores = fair_shares(settings.workers, pipeline.law.cores);
    }
    if (settings.cards > 1) {
      pipeline.shared_cores.clear();  // several consumers are elsewhere
    }
    const double ratio = ratio_of(settings);
    pipeline.batch = settings.batch;
    pipeline.batch_work_ns = of_other_batch(std::move(pipeline.batch_work_ns), ratio);
    pipeline.copy_ns = copy_ns.value_or(pipeline.copy_ns * ratio);
    const double measured_ns = median(pipeline.compute_ns);
    for (double& time : pipeline.compute_ns) {
      time = measured_ns > 0 ? time * compute_ns / measured_ns : compute_ns;
    }
    set_length(pipeline);
    return pipeline;
  }

  Profile profile_;
  std::vector<MeasuredStep> measured_;
  std::vector<std::int64_t> out_of_memory_;
  bool assumes_sharing_;
};

const Registration<LoaderRateReader> BENCH_REGISTERED{LoaderRateReader{
    .name = "workers", .read = [](const ResultDocument& document) -> std::optional<LoaderRate> {
      const Json& sweep = document.sweep.state;
      if (!sweep.contains("profile")) {
        return std::nullopt;
      }
      const Profile profile = profile_in(sweep);
      const auto rate = rate_on_all_cores(profile);
      return rate ? std::optional(LoaderRate{.samples_per_s = *rate, .cores = profile.law.law.cores})
                  : std::nullopt;
    }}};

const Registration<LoadingModelReader> BENCH_REGISTERED{LoadingModelReader{
    .name = "workers",
    .read = [](const ResultDocument& document, bool device_on_cores) -> std::unique_ptr<LoadingModel> {
      return std::make_unique<SimulatedLoading>(document, device_on_cores);
    }}};

}  // namespace
}  // namespace bench::sweeps
