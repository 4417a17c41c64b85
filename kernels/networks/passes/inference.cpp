#include "kernels/networks/passes/inference.h"

#include <algorithm>
#include <utility>

#include "kernels/networks/passes/extra_bytes.h"

namespace bench::kernels {

void record_forward(ProgramPlan& plan, Device& device, OperationCache& cache, std::vector<ExtraBytes> extra) {
  Recorder recorder(plan, device, cache);
  if (!extra.empty()) {
    recorder.set_extra(std::move(extra));
  }
  const BlockId input = plan.program.block("input", MemoryCategory::input);
  plan.inputs = {plan.program.keep(input, "samples", plan.input.bytes())};
  recorder.start_micro_batch(plan.inputs.front());
  for (Graph::Value value = 1; value < plan.graph.nodes().size(); ++value) {
    recorder.forward(value);
  }
  plan.program.set_output(recorder.value(plan.graph.output()));
}

ProgramPlan plan_inference(Graph graph, const Target& target, Device& device) {
  OperationCache cache;
  ProgramPlan plan(std::move(graph), target);
  record_forward(plan, device, cache);
  const std::vector<ExtraBytes> extra = share_extra_bytes(plan, device, cache);
  if (std::ranges::any_of(extra, [](const ExtraBytes& layer) { return layer != ExtraBytes{}; })) {
    plan = ProgramPlan(Graph(plan.graph), target);
    record_forward(plan, device, cache, extra);
  }
  finish_plan(plan, device, ScratchPlace::where_smaller);
  if (device.host_accessible() && target.dtype == Dtype::bf16) {
    plan.library_bytes += kSixteenBitInferenceCode;
  }
  return plan;
}

}  // namespace bench::kernels
