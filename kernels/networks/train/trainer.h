// A training step on a device: everything allocated, parameters drawn and packed, pointers bound.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/device.h"
#include "bench/memory.h"
#include "bench/workload.h"
#include "kernels/loss_scale/loss_scale.h"
#include "kernels/networks/parameters.h"
#include "kernels/networks/train/step.h"

namespace bench::kernels {

struct TrainingPlan {
  Graph graph;
  Target target;  // of a micro-batch
  TrainingStep step;
  Placement placement;
  std::int64_t library_bytes = 0;  // of compiled code, estimated
  PlainParameter largest_plain;    // drawn on the host; nothing where that is not the device's memory

  // One allocation a block, one for the arena and one for scratch: exactly what a Trainer allocates. Before
  // the last two, the largest parameter in its plain form.
  MemoryPlan memory() const;
  // The blocks and what else is live, for each instruction.
  std::vector<MemoryMoment> timeline() const;
  Work work() const;
  // "backward layer1.0.conv1": the operation during which most memory is in use.
  const std::string& peak_at() const;
};

// Throws Unsupported. Allocates nothing on the device.
TrainingPlan plan_training(Graph graph, const Target& target, const TrainOptions& options, Device& device);

class Trainer {
 public:
  // Throws OutOfMemory.
  Trainer(TrainingPlan plan, Device& device, std::uint64_t seed);

  const TrainingPlan& plan() const { return plan_; }

  // Sample i becomes samples[i mod samples.size()]; row r of it gets the label
  // labels[(i · rows + r) mod labels.size()].
  void set_batch(std::span<const Sample> samples, std::span<const std::int32_t> labels);

  // Parameters as drawn from the seed, the optimizer's state and the loss scale as at the start.
  void restart();
  // Halves the loss scale until the gradients of the batch are finite; runs forward and backward passes. Does
  // nothing where the loss is not scaled.
  void settle_loss_scale();

  // Queues a step.
  void run() { run(0, bound_.size(), true); }
  // Queues forward and backward passes only: gradients are left where gradients() finds them.
  void run_gradients() { run(0, plan_.step.optimizer_begin, false); }
  // Waits, and returns the mean loss over the batch that the latest pass found.
  double loss();

  // Overwrites the loss with bytes that read as NaN, until the next pass.
  void poison_loss();

  // A parameter, or its gradient (without the loss scale's factor), in the plain form of kernels/*/*.h.
  // Waits.
  std::vector<float> parameter(std::size_t index);
  std::vector<float> gradient(std::size_t index);
  void set_parameter(std::size_t index, std::span<const float> plain);

  // Where a tensor lies; for tests that look inside.
  std::byte* address(TensorId id) const;

 private:
  void allocate_blocks();
  void allocate_rest();
  void draw_parameters();
  void start_states();
  LossScale loss_scale() const;  // as it is on the device
  void bind();
  void run(std::size_t begin, std::size_t end, bool updates);
  std::vector<float> unpacked(const TrainedParameter& parameter, TensorId tensor);

  Device& device_;
  TrainingPlan plan_;
  std::uint64_t seed_;
  std::vector<Buffer> blocks_;
  Buffer arena_;
  Buffer scratch_;
  std::vector<std::pair<std::shared_ptr<Operation>, SlotPointers>> bound_;
};

}  // namespace bench::kernels
