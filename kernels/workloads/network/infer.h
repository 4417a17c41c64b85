// Mode "infer" of a network's workload: one step is one pass over a batch that stays on the device.
#pragma once

#include <memory>

#include "bench/workload.h"
#include "kernels/networks/program/runner.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/step.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {

// The fused network planned for the device's best implementations. Throws Unsupported.
ProgramPlan plan_inference(const NetworkPoint& point, Device& device);
// The same of a spec. Throws UsageError too.
ProgramPlan plan_inference(const NetworkType& network, const WorkloadSpec& spec, Device& device);

// The reference's answers to the distinct samples of a point's batch.
ReferenceAnswers::Compute expected_logits(const NetworkPoint& point);

class InferWorkload final : public SingleStep<ProgramRunner> {
 public:
  InferWorkload(const NetworkPoint& point, std::shared_ptr<ReferenceAnswers> expected, Device& device);
  InferWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device);

  Verification verify() override;
  // The second half of verify(): compares the output that is there.
  Verification compare_output();

 private:
  std::shared_ptr<ReferenceAnswers> expected_;
};

// Relative error of a row of logits that is still accepted: about three times what the networks here show at
// most.
double logits_tolerance(Dtype dtype);

}  // namespace bench::kernels
