// A training step on a device: labels, loss, gradients and the optimizer's state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/networks/program/runner.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels {

class Trainer : public ProgramRunner {
 public:
  // A plan that has a backward pass. Throws OutOfMemory.
  Trainer(ProgramPlan plan, Device& device, std::uint64_t seed);

  // Sample i becomes samples[i mod samples.size()]; row r of it gets the label
  // labels[(i · rows + r) mod labels.size()].
  void set_batch(std::span<const Sample> samples, std::span<const std::int32_t> labels);
  void set_labels(std::span<const std::int32_t> labels);  // of it alone

  // Parameters as initialised from the seed, the optimizer's state and the loss scale as at the start.
  void restart();
  // Halves the loss scale until the gradients of the batch are finite; runs forward and backward passes. Does
  // nothing where the loss is not scaled.
  void settle_loss_scale();

  // Queues forward and backward passes only: gradients are left where gradient() finds them.
  void run_gradients() { run_part(0, plan_.training->optimizer_begin); }
  // The same in parts, from one instruction up to, not including, another; and what follows the last.
  void run_part(std::size_t begin, std::size_t end) { ProgramRunner::run(begin, end, false); }
  void run_optimizer() { ProgramRunner::run(plan_.training->optimizer_begin, instruction_count()); }
  // Where a group's parameters and their gradients lie, in the same order.
  std::byte* weights(const ParameterGroup& group) { return block(group.weights); }
  std::byte* gradients(const ParameterGroup& group) { return block(group.gradients); }
  // Queues what the loss depends on alone: the forward passes. Leaves the gradients as they are.
  void run_loss();
  // Waits, and returns the mean loss over the batch that the latest pass found.
  double loss();
  // Overwrites the loss with bytes that read as NaN, until the next pass.
  void poison_loss();

  // A parameter, or its gradient (without the loss scale's factor), in the network's own order, however it is
  // stored. Waits.
  std::vector<float> parameter(std::size_t index);
  std::vector<float> gradient(std::size_t index);
  std::vector<std::vector<float>> all_gradients();
  void set_parameter(std::size_t index, std::span<const float> plain);
  // The next three are for parameters and gradients in fp32, in the order in which they are stored. They
  // wait.
  std::vector<float> stored_parameter(std::size_t index);
  double gradient_norm(std::size_t index);
  // The stored values become start + factor · gradient, with the gradient of the latest pass.
  void move_parameter(std::size_t index, std::span<const float> start, double factor);

 private:
  std::vector<bool> needed_for_loss() const;  // by instruction, before the optimizer's
  void start_states();
  LossScale loss_scale() const;  // as it is on the device
  std::vector<float> unpacked(const PlannedParameter& parameter, TensorId tensor);
  // Where it lies, or a copy in staged_ where that is not the host's memory.
  std::span<const float> stored_values(TensorId tensor);

  std::vector<bool> needed_for_loss_;
  std::vector<float> staged_;
};

}  // namespace bench::kernels
