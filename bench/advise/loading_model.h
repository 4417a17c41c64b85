// How fast a host's loader feeds a training step, as a sweep measured it: what other settings of the loader
// would give. Sweeps register how they read it from their result file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/result/result.h"

namespace bench {

// A step's time in steady state, in nanoseconds of one accumulation. The parts add up to the step.
struct LoadedStep {
  double step_ns = 0;
  double computing_ns = 0;  // slowed down by workers on the same cores, where they are
  double copying_ns = 0;    // not overlapped with computing
  double waiting_ns = 0;    // for a batch that is not ready
  double handover_ns = 0;   // from the end of a step to the start of the next one, the batch being ready
  // Standard deviation of the step's logarithm where these very settings were measured; none: simulated.
  std::optional<double> measured_deviation{};
  bool at_least = false;  // the step takes no less, and nobody knows how much more
};

// What is known of it whatever the settings.
struct LoaderFacts {
  TrainingSettings measured{};  // as it was measured: batch, prefetch, pin, dtype
  double compute_ns = 0;        // of a step with ready data, median
  bool measured_on_cores =
      false;                      // whether workers and device shared cores; else that is assumed, see `read`
  std::int64_t most_workers = 0;  // that were measured; more are extrapolated
  double cores = 1;
  double other_cores = 0;                // that other programs kept busy while the loader was measured
  double samples_per_s_of_a_worker = 0;  // alone
  // Of simulated step times on counts that were left out, relative, root mean square; none where none was.
  std::optional<double> error{};
  std::string consumer{};              // "resnet18", "20ms"
  bool is_simulated = true;            // else arithmetic on readings
  std::vector<std::int64_t> counts{};  // of workers that it tells of; empty: up to twice the cores
};

class LoadingModel {
 public:
  LoadingModel() = default;
  LoadingModel(const LoadingModel&) = delete;
  LoadingModel& operator=(const LoadingModel&) = delete;
  virtual ~LoadingModel() = default;

  // `compute_ns`: of a step on the device, its data being there. `copy_ns`: of the batch's copy to the
  // device; none: as it was measured.
  virtual LoadedStep step(const TrainingSettings& settings, double compute_ns,
                          std::optional<double> copy_ns) const = 0;
  // What keeps the loader from being faster with these settings: Bottleneck::storage, loader_cpu or bus.
  // Bottleneck::compute where the device never waits, as far as the simulation knows; Bottleneck::loader
  // where they are not told apart.
  virtual Bottleneck limit(const TrainingSettings& settings, double compute_ns,
                           std::optional<double> copy_ns) const = 0;
  // Why the device waits, a sentence, and readings that would tell more; empty where the rates of a worker
  // and of the device tell it.
  virtual std::string reason_to_wait(std::vector<std::string>& /*missing*/) const { return ""; }
  // What limits a step that hardly waits, where the rest of it was not taken apart; none where it was.
  virtual std::optional<NamedBottleneck> what_else_limits(std::vector<std::string>& /*missing*/) const {
    return std::nullopt;
  }
  // Memory of the host for batches and workers, in bytes.
  virtual double host_bytes(const TrainingSettings& settings) const = 0;

  virtual bool ran_out_of_memory(const TrainingSettings& /*settings*/) const {
    return false;
  }  // when measured

  const LoaderFacts& facts() const { return facts_; }

 protected:
  LoaderFacts facts_{};
};

struct LoadingModelReader {
  std::string name;  // of the sweep whose result files it reads
  // `device_on_cores`: the device is the workers' own processor. Where the file's consumer was not, computing
  // is taken to slow down by the cores that workers occupy. Throws UsageError where the file does not hold
  // what it needs.
  std::function<std::unique_ptr<LoadingModel>(const ResultDocument& document, bool device_on_cores)> read;
};

}  // namespace bench
