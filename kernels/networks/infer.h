// Networks as workloads of the program, mode "infer": one step is one pass over a batch that stays on the
// device.
#pragma once

#include <memory>

#include "bench/workload.h"
#include "kernels/networks/executor.h"
#include "kernels/networks/network.h"

namespace bench::kernels {

// The fused network planned for the device's best implementations. Throws UsageError and Unsupported.
NetworkPlan plan_inference(const NetworkType& network, const WorkloadSpec& spec, Device& device);

class InferWorkload final : public Workload {
 public:
  InferWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device);

  void step() override { recorded_ ? recorded_->replay() : executor_.run(); }
  Verification verify() override;
  Work work() const override { return executor_.plan().work(); }

  // What verify() does after its step: judges the output that is there.
  Verification compare_output();
  Executor& executor() { return executor_; }

 private:
  NetworkType network_;
  WorkloadSpec spec_;
  Executor executor_;
  std::unique_ptr<RecordedStep> recorded_;  // with --launch graph
};

// How many different samples a batch repeats, each of which costs a reference answer. With two, mixed-up rows
// are seen. Where the reference works for several seconds on each, as on U-Net's 512 pixels, it is one.
std::uint64_t distinct_samples(const Graph& graph);

// Relative error of a row of logits that is still accepted: about three times what the networks here show at
// most.
double logits_tolerance(Dtype dtype);

}  // namespace bench::kernels
