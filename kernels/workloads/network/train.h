// Mode "train" of a network's workload: one step is a training step on a batch that stays on the device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/workloads/network/gradient_buckets.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/step.h"

namespace bench::kernels {

// Throws Unsupported.
ProgramPlan plan_training(const NetworkPoint& point, Device& device);
// The same of a spec. Throws UsageError too.
ProgramPlan plan_training(const NetworkType& network, const WorkloadSpec& spec, Device& device);

// Bytes of drawn parameters that a verification keeps, for all trainers that it compares: none where the
// host's memory is what is measured.
std::int64_t most_draws_kept(const Device& device);

// Why the network cannot be trained on any device: a layer that has no gradient, or an output that no loss
// reads; nullopt where it can.
std::optional<std::string> why_not_trained(const Graph& graph);

class TrainWorkload final : public SingleStep<Trainer> {
 public:
  TrainWorkload(const NetworkPoint& point, std::shared_ptr<GradientReference> reference, Device& device);
  TrainWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device);

  // The gradient tensor by tensor against the reference's at a small size; then as a whole at the point's
  // own: in fp32 against central differences of the loss, in fewer bits against the device's gradient in
  // fp32. A recorded step must lead to the same loss as one that is queued.
  Verification verify() override;
  // Without the second of these, 13 to 60 passes.
  void shorten_verification() override { is_short_ = true; }
  std::optional<GradientTimeline> gradient_timeline() override {
    return kernels::gradient_timeline(runner_, device_);
  }

 private:
  Verification verify_gradient();
  Verification verify_at_own_size();
  Verification verify_by_differences();
  Verification verify_by_twin();
  // The loss that the last of a few steps from the start finds: it depends on all that those before changed.
  double loss_after(const std::function<void()>& step);
  void compare_launches(Verification& verification);

  NetworkPoint point_;
  std::shared_ptr<GradientReference> reference_;
  bool is_short_ = false;  // the verification
};

}  // namespace bench::kernels
