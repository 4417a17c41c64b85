// What the command line asks of the workers sweep, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/sweep.h"
#include "bench/transfers.h"
#include "sweeps/workers/batch_result.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/loader/storage_limit.h"
#include "sweeps/workers/loader/transform.h"
#include "sweeps/workers/setup.h"

namespace bench::sweeps {

// Takes the batches.
struct ConsumerChoice {
  const WorkloadType* workload = nullptr;  // null: a time a step
  std::int64_t step_ns = 0;
  std::string name;  // "resnet18", "40ms", "resnet50 on NVIDIA H200"
  // With --simulate the profile has the batch: the steps to choose from, and step_ns is not set.
  std::optional<BatchResult> steps;
};

struct WorkersOptions {
  std::string data;
  bool cold = false;
  std::optional<loader::StorageLimit> storage;
  std::vector<std::int64_t> workers;  // growing, each once
  std::int64_t prefetch = 2;
  std::vector<loader::Order> orders;
  ConsumerChoice consumer;
  std::int64_t batch = 0;
  Dtype dtype = Dtype::fp32;  // of the consumer
  loader::Transform transform;
  HostKind staging = HostKind::pageable;
  std::vector<RequiredThroughput> required;
  std::int64_t gpus = 1;
  std::optional<std::int64_t> cores;  // for the simulation
  std::string profile;
};

std::vector<CommandOption> workers_command_options();
bool simulates(const SweepRequest& request);  // --simulate
// Throws UsageError naming the option. Reads the result files that are named.
WorkersOptions workers_options(const SweepRequest& request, const Device& device);
const char* name_of(loader::Order order);  // "in-order", "any"

// The most workers that are measured or simulated.
inline constexpr std::int64_t kMostWorkers = 1000;

}  // namespace bench::sweeps
