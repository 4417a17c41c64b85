// The options of the workers sweep, checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/sweep.h"
#include "sweeps/workers/loader/batch_queue.h"
#include "sweeps/workers/loader/transform.h"
#include "sweeps/workers/record.h"

namespace bench::sweeps {

// The steps that a batch sweep measured, of another machine or this one: a consumer for the simulation.
struct BatchResult {
  std::string workload{};
  std::string device{};  // as its maker calls it
  std::string dtype{};
  struct Step {
    std::int64_t batch = 0;
    double ns = 0;
  };
  std::vector<Step> steps{};  // growing batches; at least one

  const Step& best() const;  // the most samples a second
  // Measured, or on a line between two measured batches. Throws UsageError naming --consumer for a batch
  // outside them.
  double step_ns(std::int64_t batch) const;
};

// Points in the dtype, or in the file's first where none is given. Throws UsageError naming the option, also
// where the file holds no such point.
BatchResult read_batch_result(const std::string& option, const std::string& path,
                              std::optional<std::string> dtype);

// Takes the batches.
struct ConsumerChoice {
  std::shared_ptr<const ConfiguredWorkload> workload;  // null: a time a step
  std::int64_t step_ns = 0;
  // With --simulate the profile has the batch: the steps to choose from, and step_ns is not set.
  std::optional<BatchResult> steps;
};

struct WorkersOptions {
  LoaderSetup setup;
  ConsumerChoice consumer;
  std::vector<std::int64_t> workers;  // growing, each once
  std::int64_t prefetch = 2;
  std::vector<loader::Order> orders;
  Dtype dtype = Dtype::fp32;  // of the consumer
  loader::Transform transform;
  std::optional<std::int64_t> cores;  // for the simulation
  std::string profile;
  std::string samples;
};

std::vector<CommandOption> workers_command_options();
bool simulates(const SweepRequest& request);  // --simulate
// The consumer is the first of --demand: no other was given.
bool takes_required_throughput(const SweepRequest& request);
// Throws UsageError naming the option. Reads the result files that are named.
WorkersOptions workers_options(const SweepRequest& request, const Device& device);

// The most workers that are measured or simulated.
inline constexpr std::int64_t kMostWorkers = 1000;

}  // namespace bench::sweeps
