#include "kernels/workloads/network/infer.h"

#include <utility>

#include "kernels/networks/passes/inference.h"
#include "kernels/networks/program/input.h"
#include "kernels/workloads/network/reference.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {
double logits_tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return 1e-4;  // seen: 1e-6, Winograd included; products of tf32 or bf16 in its place would miss by 1e-3
    case Dtype::tf32:
    case Dtype::fp16:
      return 1e-2;
    case Dtype::bf16:
      return 6e-2;  // seen: 0.5 % for ResNet and VGG, 2.5 % for MobileNetV2 with its clipped activations
  }
  return 0;
}

ProgramPlan plan_inference(const NetworkPoint& point, Device& device) {
  const Target target{.batch = point.batch,
                      .dtype = point.dtype,
                      .layouts = layouts_for(device, point.dtype),
                      .implementation = {}};
  return plan_inference(fuse_for_inference(point.graph), target, device);
}

ProgramPlan plan_inference(const NetworkType& network, const WorkloadSpec& spec, Device& device) {
  return plan_inference(read_point(network, spec), device);
}

ReferenceAnswers::Compute expected_logits(const NetworkPoint& point) {
  return [graph = point.graph, seed = point.seed](const std::vector<std::int64_t>& /*all*/) {
    return reference_outputs(graph, seeded_samples(graph, seed, 0, distinct_samples(graph)), seed);
  };
}

InferWorkload::InferWorkload(const NetworkPoint& point, std::shared_ptr<ReferenceAnswers> expected,
                             Device& device)
    : SingleStep(plan_inference(point, device), point, device), expected_(std::move(expected)) {}

InferWorkload::InferWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device)
    : InferWorkload(read_point(network, spec),
                    std::make_shared<ReferenceAnswers>(expected_logits(read_point(network, spec))), device) {}

Verification InferWorkload::verify() {
  runner_.poison_output();
  step();
  return compare_output();
}

Verification InferWorkload::compare_output() {
  const ProgramPlan& plan = runner_.plan();
  return compare_rows(runner_.output(),
                      expected_->to_first(static_cast<std::int64_t>(distinct_samples(plan.graph))),
                      logits_tolerance(plan.target.dtype), "the logits of a sample");
}

}  // namespace bench::kernels
