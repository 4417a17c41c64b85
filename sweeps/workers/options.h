// What the command line asks of the workers sweep, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/sweep.h"
#include "bench/transfers.h"
#include "sweeps/workers/loader/data.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/loader/sample_maker.h"
#include "sweeps/workers/other_result.h"

namespace bench::sweeps {

// Who takes the batches.
struct ConsumerChoice {
  const WorkloadType* workload = nullptr;  // null: a time
  std::int64_t step_ns = 0;
  std::string name;  // "resnet18", "40 ms", "resnet50 on NVIDIA H200"
  // With --simulate, whose batch stands in the profile: the steps to choose from; step_ns is then not set.
  std::optional<OtherResult> elsewhere;
};

// Images a second that a device elsewhere would take.
struct LoaderDemand {
  std::string name;
  double images_per_s = 0;
  std::string source;  // "given", or the result file
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
  // Of the workers; none: as nice as can be, unless others want the cores.
  std::optional<int> nice;
  std::vector<LoaderDemand> demands;
  std::int64_t gpus = 1;
  std::optional<std::int64_t> cores;  // for the simulation
  std::string profile;
};

std::vector<CommandOption> workers_command_options();
bool simulates(const SweepRequest& request);  // --simulate
// Throws UsageError naming the option. Reads the result files that are named.
WorkersOptions workers_options(const SweepRequest& request, const Device& device);
std::vector<std::string> split_at_commas(std::string_view text);
// Of --demand; files are read in that dtype, or in their own first.
std::vector<LoaderDemand> read_demands(const std::string& given, const std::optional<std::string>& dtype);
const char* name_of(loader::Order order);  // "in-order", "any"

}  // namespace bench::sweeps
