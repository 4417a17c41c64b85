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
  // Memory of the host for batches and workers, in bytes.
  virtual double host_bytes(const TrainingSettings& settings) const = 0;

  // Of simulated step times on counts that were left out, relative, root mean square; none where none was.
  virtual std::optional<double> error() const = 0;
  virtual TrainingSettings measured() const = 0;  // as it was measured: batch, prefetch, pin, dtype
  virtual double compute_ns() const = 0;          // of a step with ready data, median
  // Whether workers and device were measured on the same cores; else their sharing is assumed, see `read`.
  virtual bool measured_on_cores() const = 0;
  virtual std::int64_t most_workers() const = 0;  // that were measured; more are extrapolated
  virtual double cores() const = 0;
  virtual double other_cores() const = 0;  // that other programs kept busy while the loader was measured
  virtual bool ran_out_of_memory(const TrainingSettings& settings) const = 0;  // of the host, when measured
  virtual double samples_per_s_of_a_worker() const = 0;                        // alone
  virtual std::string consumer() const = 0;                                    // "resnet18", "20ms"
  virtual bool is_simulated() const { return true; }  // which takes milliseconds a step; else arithmetic
};

struct LoadingModelReader {
  std::string name;  // of the sweep whose result files it reads
  // `device_on_cores`: the device is the workers' own processor. Where the file's consumer was not, computing
  // is taken to slow down by the cores that workers occupy. Throws UsageError where the file does not hold
  // what it needs.
  std::function<std::unique_ptr<LoadingModel>(const ResultDocument& document, bool device_on_cores)> read;
};

}  // namespace bench
