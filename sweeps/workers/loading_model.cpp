// A measured loader under other settings, for `bench advise`: the profile of a workers result, simulated.
#include "bench/advise/loading_model.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/error.h"
#include "bench/measure/statistics.h"
#include "bench/registry.h"
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
std::vector<simulator::SharedCores> fair_shares(std::int64_t workers, double cores) {
  std::vector<simulator::SharedCores> shares;
  for (std::int64_t active = 0; active <= workers && workers > 0; ++active) {
    const double speed = cores / (cores + static_cast<double>(active));
    shares.push_back({.active = static_cast<double>(active),
                      .consumer_speed = speed,
                      .worker_speed = active > 0 ? speed : 1});
  }
  return shares;
}

// AU measured and simulated from a profile without that count.
std::optional<double> held_out_error(const Json& file) {
  const Json& sweep = file.at("sweep");
  if (!sweep.contains("simulated") || !sweep.contains("measured")) {
    return std::nullopt;
  }
  double squares = 0;
  int count = 0;
  for (const Json& simulated : sweep.at("simulated").at("points")) {
    if (!simulated.contains("held_out_au")) {
      continue;
    }
    for (const Json& measured : sweep.at("measured")) {
      const double au = measured.at("workers") == simulated.at("workers") && measured.contains("au")
                            ? measured.at("au").get<double>()
                            : 0;
      if (au > 0) {
        const double error = std::log(simulated.at("held_out_au").get<double>() / au);
        squares += error * error;
        ++count;
        break;
      }
    }
  }
  return count > 0 ? std::optional(std::sqrt(squares / count)) : std::nullopt;
}

class SimulatedLoading final : public LoadingModel {
 public:
  SimulatedLoading(const Json& file, bool device_on_cores)
      : profile_(read_profile(file)),
        dtype_(file.at("sweep").at("loader").at("dtype").get<std::string>()),
        error_(held_out_error(file)),
        assumes_sharing_(device_on_cores && !profile_.consumer_on_cores) {}

  LoadedStep step(const TrainingSettings& settings, double compute_ns,
                  std::optional<double> copy_ns) const override {
    const simulator::Pipeline pipeline = pipeline_with(settings, compute_ns, copy_ns);
    const simulator::Outcome outcome = simulator::simulate(pipeline);
    LoadedStep step;
    step.step_ns = static_cast<double>(settings.batch * pipeline.consumers) / outcome.samples_per_s * 1e9;
    step.computing_ns = std::min(step.step_ns, outcome.compute_ns);
    const double exposed =
        pipeline.lookahead ? std::max(0.0, pipeline.copy_ns - step.computing_ns) : pipeline.copy_ns;
    step.copying_ns = std::min(step.step_ns - step.computing_ns, exposed);
    step.handover_ns = std::min(step.step_ns - step.computing_ns - step.copying_ns, pipeline.gap_ns);
    step.waiting_ns = step.step_ns - step.computing_ns - step.copying_ns - step.handover_ns;
    return step;
  }

  Bottleneck limit(const TrainingSettings& settings, double compute_ns,
                   std::optional<double> copy_ns) const override {
    const std::string limit = simulate_point(pipeline_with(settings, compute_ns, copy_ns)).limited_by;
    return limit == "consumer"  ? Bottleneck::compute
           : limit == "copy"    ? Bottleneck::bus
           : limit == "storage" ? Bottleneck::storage
                                : Bottleneck::loader_cpu;
  }

  double host_bytes(const TrainingSettings& settings) const override {
    const auto cards = static_cast<double>(settings.cards);
    const auto workers = static_cast<double>(settings.workers);
    const double slots = std::max(1.0, workers * static_cast<double>(settings.prefetch));
    return cards *
           (slots * profile_.slot_bytes * ratio_of(settings) + workers * profile_.scratch_bytes_per_worker);
  }

  std::optional<double> error() const override { return error_; }
  TrainingSettings measured() const override {
    return {.batch = profile_.pipeline.batch,
            .prefetch = profile_.pipeline.prefetch,
            .pin = profile_.pinned,
            .dtype = dtype_};
  }
  double compute_ns() const override { return median(profile_.pipeline.compute_ns); }
  bool measured_on_cores() const override { return profile_.consumer_on_cores; }
  double cores() const override { return profile_.law.law.cores; }
  double samples_per_s_of_a_worker() const override { return profile_.law.law.one; }
  std::string consumer() const override { return profile_.consumer; }

 private:
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
  std::string dtype_;
  std::optional<double> error_;
  bool assumes_sharing_;
};

const Registration<LoadingModelReader> registered{LoadingModelReader{
    .name = "workers", .read = [](const Json& file, bool device_on_cores) -> std::unique_ptr<LoadingModel> {
      return std::make_unique<SimulatedLoading>(file, device_on_cores);
    }}};

}  // namespace
}  // namespace bench::sweeps
