#include "kernels/networks/passes/loss.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/operations/cross_entropy/cross_entropy.h"

namespace bench::kernels {

Graph::Value logits_of(const Graph& graph) {
  const Graph::Value last = graph.output();
  const Node& node = graph[last];
  return node.layer != nullptr && node.layer->part_of_loss() ? node.inputs[0] : last;
}

void record_loss(ProgramPlan& plan, Recorder& recorder, std::int64_t micro_batch, std::int64_t micro_batches,
                 const std::string& suffix) {
  Program& program = plan.program;
  TrainingParts& training = *plan.training;
  const Graph::Value logits = logits_of(plan.graph);
  const TensorDesc& scores = plan.stored[logits].tensor;
  training.classes = plan.graph[logits].shape.channels();
  training.rows = scores.h * scores.w;
  const Shape& shape = plan.graph[logits].shape;
  if (scores.c != training.classes || scores.layout != Layout::nhwc || scores.n != plan.target.batch ||
      !shape.is_fixed_from(1)) {
    throw Unsupported(
        fmt::format("training needs a network that ends in rows of classes for each sample, not {} of {}",
                    plan.graph[logits].name, shape.text()));
  }
  CrossEntropy loss;
  loss.rows = plan.target.batch * training.rows;
  loss.classes = training.classes;
  loss.scale = 1.0F / static_cast<float>(loss.rows * micro_batches);
  loss.dtype = plan.target.dtype;
  loss.scaled = training.loss_scale.has_value();

  const BlockId inputs = program.tensors()[plan.inputs.front()].block.value();
  const TensorId labels = program.keep(inputs, fmt::format("labels {}", micro_batch), 4 * loss.rows);
  const BlockId losses = training.losses.empty() ? program.block("loss", MemoryCategory::other)
                                                 : program.tensors()[training.losses.front()].block.value();
  const TensorId value = program.keep(losses, fmt::format("loss {}", micro_batch), 4);
  const TensorId gradient =
      program.tensor("gradient of the logits", loss.tensor().bytes(), Content::activation_gradient);
  Arguments tensors{{Slot::src, recorder.value(logits)},
                    {Slot::labels, labels},
                    {Slot::loss, value},
                    {Slot::diff_src, gradient}};
  if (loss.scaled) {
    tensors.emplace_back(Slot::loss_scale, *training.loss_scale);
  }
  recorder.run("loss" + suffix, loss, tensors, {gradient, {recorder.value(logits)}});
  recorder.contribute(logits, gradient);
  training.labels.push_back(labels);
  training.losses.push_back(value);
}

}  // namespace bench::kernels
