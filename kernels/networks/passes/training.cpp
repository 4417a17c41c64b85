#include "kernels/networks/passes/training.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/passes/attention.h"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// Whether the value is stored as rows of classes, one after the other, those of a sample together.
bool is_rows_of_classes(const ProgramPlan& plan, Value logits) {
  const Shape& shape = plan.graph[logits].shape;
  const TensorDesc& scores = plan.stored[logits].tensor;
  return scores.c == shape.channels() && scores.layout == Layout::nhwc && scores.n == plan.target.batch &&
         shape.is_fixed_from(1);
}

// The layers up to the logits, and after them the logits as rows of classes: of maps the channels are the
// classes of each pixel, of any other value the last dimension.
Graph ending_in_rows(const Graph& graph, Value logits) {
  const Shape& shape = graph[logits].shape;
  const auto batch = shape.batch_dimension();
  if (!batch || shape.rank() < 2) {
    return graph;
  }
  Graph rows = first_layers(graph, logits);
  std::vector<std::size_t> order{*batch};
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (d != *batch && d != (shape.is_maps() ? shape.channel_dimension() : *batch)) {
      order.push_back(d);
    }
  }
  if (shape.is_maps()) {
    order.push_back(shape.channel_dimension());
  }
  Value last = logits;
  if (!std::ranges::is_sorted(order)) {
    last =
        rows.append(graph[logits].name + " with the classes last", {last}, TransposeOptions{.order = order});
  }
  const Shape& turned = rows[last].shape;
  const std::int64_t classes = turned[turned.rank() - 1].size;
  rows.append(graph[logits].name + " as rows", {last},
              ReshapeOptions{.shape = {kBatch, turned.elements() / classes, classes}});
  return rows;
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
  record_loss(plan, recorder, {logits, inputs, micro_batch, suffix}, options);
  if (options.recompute) {
    return record_backward_by_segments(recorder, plan.graph, logits);
  }
  for (Value value = logits; value >= 1; --value) {
    recorder.backward(value);
  }
}

}  // namespace

ExtraBytes convolution_scratch(const ProgramPlan& plan, const TrainOptions& options) {
  std::int64_t results = 0;
  for (Value value = 1; value < plan.stored.size(); ++value) {
    results += plan.stored[value].tensor.bytes();
  }
  return {.scratch = options.recompute ? 0 : results / 12};
}

Value logits_of(const Graph& graph) {
  const Value last = graph.output();
  const Node& node = graph[last];
  return node.layer != nullptr && node.layer->part_of_loss(node.shape) ? node.inputs[0] : last;
}

Graph first_layers(const Graph& graph, Value last) {
  Graph layers = graph.input_only();
  for (Value value = 1; value <= last; ++value) {
    layers.append(graph[value]);
  }
  return layers;
}

ProgramPlan trained(const Graph& graph, const Target& target) {
  ProgramPlan plan(with_attention(graph), target);
  const Value logits = logits_of(plan.graph);
  return is_rows_of_classes(plan, logits) ? std::move(plan)
                                          : ProgramPlan(ending_in_rows(plan.graph, logits), target);
}

void record_loss(ProgramPlan& plan, Recorder& recorder, const RecordedLoss& wanted,
                 const TrainOptions& options) {
  Program& program = plan.program;
  TrainingParts& training = *plan.training;
  const auto& [logits, labels_block, micro_batch, suffix] = wanted;
  const TensorDesc& scores = plan.stored[logits].tensor;
  training.classes = plan.graph[logits].shape.channels();
  training.rows = scores.h * scores.w;
  if (!is_rows_of_classes(plan, logits)) {
    throw Unsupported(
        fmt::format("training needs a network that ends in rows of classes for each sample, not {} of {}",
                    plan.graph[logits].name, plan.graph[logits].shape.text()));
  }
  CrossEntropy loss;
  loss.rows = plan.target.batch * training.rows;
  if (training.classes < 2) {
    throw Unsupported(
        "the loss of training is a cross-entropy over classes, and the output has one: it would be 0");
  }
  loss.classes = training.classes;
  loss.scale = 1.0F / static_cast<float>(loss.rows * options.accumulate * options.ranks);
  loss.dtype = plan.target.dtype;
  loss.scaled = training.loss_scale.has_value();

  const TensorId labels = program.keep(labels_block, fmt::format("labels {}", micro_batch), 4 * loss.rows);
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

ProgramPlan record_training(const Graph& graph, const Target& target, const TrainOptions& options,
                            Device& device) {
  OperationCache cache;
  ProgramPlan plan = trained(graph, target);
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
  return plan;
}

ProgramPlan plan_training(const Graph& graph, const Target& target, const TrainOptions& options,
                          Device& device) {
  ProgramPlan plan = record_training(graph, target, options, device);
  finish_plan(plan, device, ScratchPlace::apart);
  return plan;
}

}  // namespace bench::kernels
