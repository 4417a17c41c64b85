// The thing measured: a network or an operation, with its mode, dtype and sizes.
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
#include "bench/error.h"
#include "bench/json.h"
#include "bench/memory.h"
#include "bench/model/network_terms.h"
#include "bench/ranks.h"
#include "bench/result/gradient_timeline.h"
#include "bench/result/workload_file.h"
#include "bench/stats/budget.h"

namespace bench {

struct WorkloadSpec {
  std::string mode;  // one of the type's modes: "infer", "train"; for conv2d "forward", "backward-data", …
  Dtype dtype = Dtype::fp32;
  std::int64_t batch = 1;
  std::uint64_t seed = 1;
  std::map<std::string, std::string> options;  // every option of the type, in text, defaults filled in
  // Of a training step that ranks do together: how many, each with `batch` samples, and the bytes of
  // gradients, at least, that are reduced at a time.
  int ranks = 1;
  std::int64_t bucket = 0;
  bool shard_optimizer = false;  // each rank keeps and updates its share of the parameters' state
};

// One step's work, from shapes alone.
struct Work {
  double samples = 0;         // batch
  double flops = 0;           // done by the algorithm that runs (Winograd does fewer), padding not counted
  double fixed_bytes = 0;     // moved once a step whatever the batch: weights
  double sample_bytes = 0;    // moved because of the samples: every activation read or written, whole batch
  std::int64_t launches = 0;  // operations started

  bool operator==(const Work&) const = default;
};

// How many of a step's operations run each implementation, by the name that its library gives it.
using Algorithms = std::map<std::string, std::int64_t>;

// A kind of operation that a step is made of.
struct OperationShare {
  std::string kind;        // "conv2d"
  std::int64_t count = 0;  // of them in a step
  double macs = 0;         // multiply-adds a sample
  double bytes = 0;        // read and written a step, weights included
};

// The operations of a workload, for `bench inspect`.
struct Composition {
  std::vector<OperationShare> operations;  // as they run, largest share first
  std::int64_t parameters = 0;             // values that training moves
  std::int64_t largest_parameter = 0;      // of them, in one tensor
  std::int64_t statistics = 0;             // values that it does not
  double macs = 0;                         // multiply-adds a sample, as published
  double activations = 0;                  // values a sample that convolutions and matrix products give
};

// How the answer compares with the reference implementation's, on the same inputs.
struct Verification {
  bool passed = false;        // something was compared, and all that was is right
  double error = 0;           // ||answer - reference||2 / ||reference||2, the worst row
  double tolerance = 0;       // accepted error for this dtype
  std::string detail;         // what was compared; when failed, where it differs
  std::string not_checked{};  // what was not compared, and why; empty: nothing was left out, or it failed

  bool failed() const { return !passed && not_checked.empty(); }
};

// A workload's figures of one sample in addition to its time.
class SampleNote {
 public:
  SampleNote() = default;
  SampleNote(const SampleNote&) = delete;
  SampleNote& operator=(const SampleNote&) = delete;
  virtual ~SampleNote() = default;
  virtual Json to_json() const = 0;  // an object
};

// A workload made on a device. Every buffer is allocated and weights are in place.
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
  // The last step's note; null: none. Kept with the sample; all samples of a point have one, or none has.
  virtual std::shared_ptr<const SampleNote> note() const { return nullptr; }
  // Poisons the output, runs a step and compares with the reference implementation.
  virtual Verification verify() = 0;
  // From now on verify() leaves out what takes many steps, and says so, if it can compare anything without.
  virtual void shorten_verification() {}
  virtual Work work() const = 0;
  // Chosen by a library or by autotuning: final once a step has run.
  virtual Algorithms algorithms() const { return {}; }
  // Of a step that ranks do together: what each has allocated at its peak, by rank.
  virtual std::vector<MemoryByCategory> memory_of_ranks() const { return {}; }
  // Of a training step of one card, for a prediction of several; takes a few steps.
  virtual std::optional<GradientTimeline> gradient_timeline() { return std::nullopt; }
};

// One rank's part of a step that ranks do together: each calls the same functions in the same order.
class RankWorkload : public Workload {
 public:
  // Of the last step: nanoseconds in which it computed nothing for the other ranks' data.
  virtual double waited_ns() const = 0;
  // Of the last step: nanoseconds that the host took to queue it; 0 where the host computes it.
  virtual double queued_ns() const { return 0; }
};

// A workload whose options were read: all that can be asked of it before it is made.
class ConfiguredWorkload {
 public:
  ConfiguredWorkload() = default;
  ConfiguredWorkload(const ConfiguredWorkload&) = delete;
  ConfiguredWorkload& operator=(const ConfiguredWorkload&) = delete;
  virtual ~ConfiguredWorkload() = default;

  // Why this cannot run on the device, as far as is known at once; nullopt where it may.
  virtual std::optional<std::string> unsupported(Device& /*device*/) const { return std::nullopt; }
  // Memory at the peak; allocates nothing on the device. Throws Unsupported, and OutOfMemory where the bytes
  // cannot be counted in 63 bits.
  virtual MemoryPlan plan(Device& device) const = 0;
  // Live memory while each operation of a step runs, in their order; allocates nothing. Empty: not known.
  virtual std::vector<MemoryMoment> timeline(Device& /*device*/) const { return {}; }
  // Nothing where it is a single operation; without operations where there is no plan.
  virtual std::optional<Composition> composition(Device& /*device*/) const { return std::nullopt; }
  // Throws OutOfMemory or Unsupported.
  virtual std::unique_ptr<Workload> make(Device& device) const = 0;

  // Of a spec of several ranks, for one of them: those of the group. Throws what make() throws; by default
  // there is none.
  virtual std::unique_ptr<RankWorkload> make_part(Device& /*device*/, RankGroup& /*ranks*/) const {
    throw Unsupported("it has no step that several ranks do together");
  }

  // The step's work at batch 1 as eager PyTorch does it, for the model of GPUs that are not here; nullopt
  // where no model knows it.
  virtual std::optional<NetworkTerms> eager_terms(const EagerForm& /*form*/) const { return std::nullopt; }

  // Pixels a side of the square images that it reads; none where it reads no images.
  virtual std::optional<std::int64_t> image_size() const { return std::nullopt; }
  // Lower bound of the point's cost, if known before the series ran. Asked after Sweep::prepare().
  virtual PointCost least_cost() const { return {}; }
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

// A point that a workload offers to the kernels sweep.
struct KernelPoint {
  WorkloadSpec spec;          // options that it leaves out have their defaults
  bool cold = false;          // the device's caches are emptied before every timed step
  bool is_reference = false;  // the roofs rest on it
};

// The kernels sweep's request to a workload.
struct KernelRequest {
  std::vector<std::string> modes;  // all of the workload's where none was given
  bool modes_given = false;        // on the command line
  std::vector<Dtype> dtypes;       // the device's where none was given
  bool dtypes_given = false;
  std::vector<std::int64_t> batches;  // empty: the workload's usual ones
  std::uint64_t seed = 1;
};

struct WorkloadType {
  std::string name;                // "resnet50"
  std::string kind;                // "network" or "operation"
  std::string description;         // one line, for --list
  std::vector<std::string> modes;  // the first is the default
  std::vector<CommandOption> options;

  // Reads the options, once. Throws UsageError naming the option whose value is wrong.
  std::function<std::shared_ptr<const ConfiguredWorkload>(const WorkloadSpec&)> configure;
  // The points by which the kernels sweep shows it; without it every mode and dtype at batch 1.
  std::function<std::vector<KernelPoint>(const KernelRequest&, const Device&)> kernel_points{};
  // Modes that others of its kind have and it lacks, and why: "train", "layer4.resize has no gradient".
  std::map<std::string, std::string> missing_modes{};
  std::optional<WorkloadFile> file{};  // that it was read from
};

}  // namespace bench
