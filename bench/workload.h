// What is measured: a network or an operation, with its mode, dtype and sizes.
// Implemented in kernels/; a sweep asks for it by name and never sees an implementation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/dtype.h"
#include "bench/measure/result.h"
#include "bench/memory.h"

namespace bench {

struct WorkloadSpec {
  std::string mode;  // one of the type's modes: "infer", "train"; for conv2d "forward", "backward-data", …
  Dtype dtype = Dtype::fp32;
  std::int64_t batch = 1;
  std::uint64_t seed = 1;
  std::map<std::string, std::string> options;  // every option of the type, in text, defaults filled in
};

// One step's work, from shapes alone.
struct Work {
  double samples = 0;         // batch
  double flops = 0;           // done by the algorithm that runs (Winograd does fewer), padding not counted
  double fixed_bytes = 0;     // moved once a step whatever the batch: weights
  double sample_bytes = 0;    // moved because of the samples: every activation read or written, whole batch
  std::int64_t launches = 0;  // operations started
};

// How the answer compares with the reference implementation's, on the same inputs.
struct Verification {
  bool passed = false;
  double error = 0;      // ||answer - reference||2 / ||reference||2, the worst row
  double tolerance = 0;  // accepted error for this dtype
  std::string detail;    // what was compared; when failed, where it differs
};

// A workload made ready on a device. Every buffer is allocated and weights are in place.
class Workload {
 public:
  virtual ~Workload() = default;
  // Called before each timed step, outside the time taken: puts back what the last step changed. Synchronous.
  virtual void before_step() {}
  // One step, queued on the device.
  virtual void step() = 0;
  // One step and how long it took, in nanoseconds; another clock than the device's where more than the device
  // takes part.
  virtual std::int64_t timed_step(Device& device) {
    return device.time([this] { step(); });
  }
  // What there is to say of the last step beside its time; null: nothing. Kept with the sample.
  virtual Json notes() const { return nullptr; }
  // Poisons the output, runs a step and compares with the reference implementation.
  virtual Verification verify() = 0;
  virtual Work work() const = 0;
};

// An option that a workload or a sweep adds to the command line.
struct CommandOption {
  std::string name;  // "image-size"; the command line's --image-size
  std::string default_value;
  std::string help;    // with unit and range
  std::string mode{};  // of a workload: the only mode that knows it; empty: every mode
  // The accepted words, where they are not numbers; asked when they are shown, for some are registered.
  std::function<std::vector<std::string>()> words{};
  bool is_switch = false;  // given without a value: "yes"; its default is "no"
};

struct WorkloadType {
  using Option = CommandOption;

  std::string name;                // "resnet50"
  std::string kind;                // "network" or "operation"
  std::string description;         // one line, for --list
  std::vector<std::string> modes;  // the first is the default
  std::vector<Option> options;

  // Throws UsageError where an option's value is wrong.
  std::function<void(const WorkloadSpec&)> check;
  // Why this cannot run on the device, as far as is known at once; nullopt where it may.
  std::function<std::optional<std::string>(const WorkloadSpec&, Device&)> unsupported;
  // Memory at the peak; allocates nothing on the device. Throws Unsupported, and OutOfMemory where the bytes
  // cannot be counted in 63 bits.
  std::function<MemoryPlan(const WorkloadSpec&, Device&)> plan;
  // What is live while each operation of a step runs, in their order; allocates nothing. Optional.
  std::function<std::vector<MemoryMoment>(const WorkloadSpec&, Device&)> timeline{};
  // Throws OutOfMemory or Unsupported.
  std::function<std::unique_ptr<Workload>(const WorkloadSpec&, Device&)> make;
};

}  // namespace bench
