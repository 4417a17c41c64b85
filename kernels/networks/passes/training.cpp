#include "kernels/networks/passes/training.h"

#include <fmt/format.h>

#include "kernels/networks/passes/loss.h"
#include "kernels/networks/passes/recompute.h"
#include "kernels/networks/passes/updates.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// Winograd's transforms may take a twelfth of what the layers' results would take if all were kept.
// Recomputation asks for little memory, not for speed.
ExtraBytes convolution_scratch(const ProgramPlan& plan, const TrainOptions& options) {
  std::int64_t results = 0;
  for (Value value = 1; value < plan.stored.size(); ++value) {
    results += plan.stored[value].tensor.bytes();
  }
  return {.scratch = options.recompute ? 0 : results / 12};
}

void record_micro_batch(ProgramPlan& plan, Recorder& recorder, const TrainOptions& options,
                        std::int64_t micro_batch) {
  Program& program = plan.program;
  const BlockId inputs = plan.inputs.empty() ? program.block("input", MemoryCategory::input)
                                             : program.tensors()[plan.inputs.front()].block.value();
  plan.inputs.push_back(program.keep(inputs, fmt::format("samples {}", micro_batch), plan.input.bytes()));
  const std::string suffix = options.accumulate > 1 ? fmt::format(" of micro-batch {}", micro_batch) : "";
  recorder.start_micro_batch(plan.inputs.back(), suffix);
  const Value logits = logits_of(plan.graph);
  for (Value value = 1; value <= logits; ++value) {
    recorder.forward(value);
  }
  record_loss(plan, recorder, micro_batch, options.accumulate, suffix);
  if (options.recompute) {
    return record_backward_by_segments(recorder, plan.graph, logits);
  }
  for (Value value = logits; value >= 1; --value) {
    recorder.backward(value);
  }
}

}  // namespace

ProgramPlan plan_training(Graph graph, const Target& target, const TrainOptions& options, Device& device) {
  OperationCache cache;
  ProgramPlan plan(std::move(graph), target);
  plan.training.emplace();
  plan.program.set_in_place(options.in_place);
  Recorder recorder(plan, device, cache);
  recorder.set_extra({plan.graph.nodes().size(), convolution_scratch(plan, options)});
  if (options.loss_scaling) {
    plan.training->loss_scale = plan.program.keep(plan.program.block("loss scale", MemoryCategory::optimizer),
                                                  "loss scale", sizeof(LossScale));
  }
  for (std::int64_t micro_batch = 0; micro_batch < options.accumulate; ++micro_batch) {
    record_micro_batch(plan, recorder, options, micro_batch);
  }
  record_updates(plan, recorder, options, device);
  finish_plan(plan, device, ScratchPlace::apart);
  return plan;
}

}  // namespace bench::kernels
