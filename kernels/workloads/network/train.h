// Mode "train" of a network's workload: one step is a training step on a batch that stays on the device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/workload.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/workloads/network/network_workload.h"

namespace bench::kernels {

// Throws Unsupported.
ProgramPlan plan_training(const NetworkPoint& point, Device& device);
// The same of a spec. Throws UsageError too.
ProgramPlan plan_training(const NetworkType& network, const WorkloadSpec& spec, Device& device);

// Why the network cannot be trained on any device: a layer that has no gradient, or an output that no loss
// reads; nullopt where it can.
std::optional<std::string> why_not_trained(const Graph& graph);

class TrainWorkload final : public Workload {
 public:
  TrainWorkload(const NetworkPoint& point, Device& device);
  TrainWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device);

  void step() override { recorded_ ? recorded_->replay() : trainer_.run(); }
  // A recorded step must lead to the same loss as one that is queued. In fp32 the gradient against central
  // differences of the loss: a small step of the parameters along the gradient must change the loss by as
  // much as the gradient says. In 16 bits against the gradient in fp32.
  Verification verify() override;
  Work work() const override { return trainer_.plan().work(); }

  Trainer& trainer() { return trainer_; }

 private:
  Verification verify_by_differences();
  Verification verify_by_twin();
  // The loss that the last of a few steps from the start finds: it depends on all that those before changed.
  double loss_after(const std::function<void()>& step);
  void compare_launches(Verification& verification);

  NetworkPoint point_;
  Device& device_;
  Trainer trainer_;
  std::unique_ptr<RecordedStep> recorded_;  // with --launch graph
};

}  // namespace bench::kernels
