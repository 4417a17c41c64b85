// A network's training step as a workload: --mode train.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "kernels/networks/network.h"
#include "kernels/networks/train/trainer.h"

namespace bench::kernels {

// --optimizer, --accumulate, --in-place and --recompute.
std::vector<WorkloadType::Option> training_options();
// Throws UsageError naming the option, what was given and what is accepted.
TrainOptions train_options(const WorkloadSpec& spec);

// spec.batch is the effective batch; a micro-batch is 1/accumulate of it.
TrainingPlan plan_training(const NetworkType& network, const WorkloadSpec& spec, Device& device);

class TrainWorkload final : public Workload {
 public:
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
  // What the last of a few steps from the start finds: it depends on all that those before have changed.
  double loss_after(const std::function<void()>& step);
  void compare_launches(Verification& verification);

  NetworkType network_;
  WorkloadSpec spec_;
  Device& device_;
  Trainer trainer_;
  std::unique_ptr<RecordedStep> recorded_;  // with --launch graph
};

}  // namespace bench::kernels
