// The options of the workers sweep, checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/sweep.h"
#include "sweeps/workers/batch_result.h"
#include "sweeps/workers/loader/batch_queue.h"
#include "sweeps/workers/loader/transform.h"
#include "sweeps/workers/record.h"

namespace bench::sweeps {

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
// Throws UsageError naming the option. Reads the result files that are named.
WorkersOptions workers_options(const SweepRequest& request, const Device& device);

// The most workers that are measured or simulated.
inline constexpr std::int64_t kMostWorkers = 1000;

}  // namespace bench::sweeps
