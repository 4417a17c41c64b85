#include "kernels/networks/eager/trace.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/networks/eager/strides.h"
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/passes/attention.h"
#include "kernels/networks/passes/training.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

bool depends_on_batch(const Shape& shape) {
  return shape.batch_dimension().has_value();
}

// Fused attention reads queries that the operation before has scaled; written out, the scores are. Later
// positions are hidden in the scores' own dtype; a mask of padding is in that of the parameters.
EagerOperations written_out(const EagerRead& queries, const EagerOperation& attention, bool is_causal,
                            bool is_padded) {
  const EagerProduct& fused = *attention.product;
  const double features = fused.depth / 2;
  const double scores = fused.rows * fused.columns * fused.count;
  const std::vector<EagerRead>& reads = attention.flow.reads;
  EagerProduct first = fused;
  first.kind = ProductClass::batched;
  first.depth = features;
  EagerProduct second = first;
  second.columns = features;
  second.depth = fused.columns;
  EagerOperations operations{eager::product({{queries, reads[1]}, scores}, first),
                             eager::scaled(eager::previous(scores))};
  if (is_causal) {
    operations.push_back(eager::scaled(eager::previous(scores)));
  } else if (is_padded) {
    operations.push_back(eager::in_fp32(eager::sum(eager::previous(scores))));
  }
  operations.push_back(eager::softmax(eager::previous(scores)));
  operations.push_back(
      eager::product({{{EagerRead::kPrevious, scores}, reads[2]}, attention.flow.written}, second));
  return operations;
}

bool is_softmax(const EagerOperation& operation) {
  return operation.traffic == Traffic::norm && operation.saved == Saved::result;
}

bool is_linear(const EagerOperation& operation) {
  return operation.product && operation.product->kind == ProductClass::linear;
}

class Tracer {
 public:
  Tracer(const Graph& graph, const CodeForm& form) : graph_(graph), form_(form) {
    const Shape& input = graph[0].shape;
    if (form.recompute) {
      for (const Segment& segment : segments(graph)) {
        block_of_.resize(segment.last + 1, segment.first);
      }
    }
    add_tensor({.values = static_cast<double>(input.elements())});
    places_.push_back({0, Strides::dense(input)});
    for (Value value = 1; value < graph.nodes().size(); ++value) {
      places_.push_back(run(value));
    }
  }

  EagerTrace trace() && { return std::move(trace_); }

 private:
  struct Place {
    std::size_t tensor = 0;
    Strides strides;
  };

  std::size_t add_tensor(const EagerTensor& tensor) {
    trace_.tensors.push_back(tensor);
    return trace_.tensors.size() - 1;
  }

  std::size_t add_step(EagerStep step) {
    step.block = block_of_.empty() ? 0 : block_of_[places_.size()];
    const EagerOperation& operation = step.operation;
    EagerTensor made{.values = operation.flow.written, .for_each_sample = operation.for_each_sample};
    for (const EagerStep::Read& read : step.reads) {
      made.wants_gradient = made.wants_gradient || trace_.tensors[read.tensor].wants_gradient;
    }
    step.result = add_tensor(made);
    trace_.steps.push_back(std::move(step));
    return trace_.steps.back().result;
  }

  // The input as it is, or a copy in order.
  Place copied(Value value) {
    const Node& node = graph_[value];
    const auto count = static_cast<double>(node.shape.elements());
    const EagerFlow flow({{0, count}}, count);
    EagerStep step{
        .operation = eager::movement(flow), .reads = {{places_[value].tensor, count}}, .kind = "copy"};
    step.operation.for_each_sample = depends_on_batch(node.shape);
    return {add_step(std::move(step)), Strides::dense(node.shape)};
  }

  // A product of matrices reads its operand as it lies, if one stride leads from each to the next; a linear
  // layer its rows, which a reshape has copied if the network was written with another rank.
  bool is_copied(const Node& node, Value input) const {
    const Strides& strides = places_[input].strides;
    if (const auto* const linear = options_of<LinearOptions>(node)) {
      return linear->rank > 0 && linear->rank != strides.dims.size() && !strides.are_rows();
    }
    return options_of<MatmulOptions>(node) != nullptr && !strides.are_matrices();
  }

  EagerOperations operations_of(const Node& node, const LayerPlace& place) const {
    EagerOperations operations;
    for (EagerOperation& operation : node.layer->eager(place)) {
      const bool is_attention = operation.product && operation.product->kind == ProductClass::attention;
      if (is_attention && form_.attention == AttentionForm::eager) {
        const auto* const options = options_of<AttentionOptions>(node);
        const EagerRead queries = operations.back().flow.reads.front();
        operations.pop_back();  // their scale
        std::ranges::move(written_out(queries, operation, options != nullptr && options->causal, form_.masks),
                          std::back_inserter(operations));
      } else {
        operations.push_back(std::move(operation));
      }
    }
    return operations;
  }

  // What `operation` reads where code has dropout before it: of a product its softmax, and of a sum of two
  // tensors a linear layer, whose block it ends.
  bool is_dropped(const EagerOperation& operation, const EagerStep::Read& read) const {
    if (!form_.dropout) {
      return false;
    }
    const auto made = std::ranges::find(trace_.steps, read.tensor, &EagerStep::result);
    if (made == trace_.steps.end()) {
      return false;
    }
    const bool is_sum = operation.traffic == Traffic::elementwise && operation.saved == Saved::nothing &&
                        operation.flow.reads.size() == 2;
    return operation.product ? is_softmax(made->operation) : is_sum && is_linear(made->operation);
  }

  void drop(EagerStep& step) {
    const auto read = std::ranges::find_if(
        step.reads, [&](const EagerStep::Read& each) { return is_dropped(step.operation, each); });
    if (read == step.reads.end()) {
      return;
    }
    EagerStep dropout{.operation = eager::dropout({{{0, read->values}}, read->values}),
                      .reads = {*read},
                      .kind = "dropout"};
    dropout.operation.for_each_sample = trace_.tensors[read->tensor].for_each_sample;
    read->tensor = add_step(std::move(dropout));
  }

  // A linear layer over rows that lie apart is a product for each sample, and a sum with the bias.
  void part_rows(const Node& node, EagerOperations& operations) const {
    const auto* const linear = options_of<LinearOptions>(node);
    if (linear == nullptr || is_copied(node, node.inputs[0]) || places_[node.inputs[0]].strides.are_rows()) {
      return;
    }
    operations.front().product->kind = ProductClass::batched;
    if (linear->bias && operations.size() == 1) {
      operations.push_back(eager::sum(eager::previous(operations.front().flow.written)));
    }
  }

  Place run(Value value) {
    const Node& node = graph_[value];
    if (const auto* const parameter = options_of<ParameterOptions>(node)) {
      const auto count = static_cast<double>(node.shape.elements());
      return {add_tensor({.values = count,
                          .for_each_sample = false,
                          .is_number = count == 1,
                          .wants_gradient = parameter->trained}),
              Strides::dense(node.shape)};
    }
    if (options_of<InputOptions>(node) != nullptr) {
      return {add_tensor({.values = static_cast<double>(node.shape.elements())}), Strides::dense(node.shape)};
    }
    if (node.inputs.size() == 1) {
      const Place& input = places_[node.inputs[0]];
      if (auto strides = viewed(node, input.strides)) {
        return {input.tensor, *std::move(strides)};
      }
    }
    const LayerPlace place = graph_.place(value);
    EagerOperations operations = operations_of(node, place);
    if (operations.empty()) {
      if (graph_[node.inputs[0]].shape == node.shape) {
        return places_[node.inputs[0]];
      }
      Place copy = copied(node.inputs[0]);
      copy.strides = Strides::dense(node.shape);
      return copy;
    }
    part_rows(node, operations);
    std::vector<std::size_t> inputs;
    for (const Value input : node.inputs) {
      inputs.push_back(is_copied(node, input) ? copied(input).tensor : places_[input].tensor);
    }
    const bool trains = node.layer->trained_values(place) > 0;
    std::size_t result = 0;
    for (EagerOperation& operation : operations) {
      EagerStep step{.operation = std::move(operation), .reads = {}, .kind = node.type->name};
      step.operation.for_each_sample = step.operation.for_each_sample && depends_on_batch(node.shape);
      for (const EagerRead& read : step.operation.flow.reads) {
        step.reads.push_back({tensor_of(read, inputs, result, trains), read.values});
      }
      drop(step);
      result = add_step(std::move(step));
      EagerTensor& made = trace_.tensors[result];
      made.wants_gradient = made.wants_gradient || trains;
    }
    return {result,
            keeps_order(node) ? places_[node.inputs[0]].strides.made_dense() : Strides::dense(node.shape)};
  }

  std::size_t tensor_of(const EagerRead& read, const std::vector<std::size_t>& inputs, std::size_t previous,
                        bool trains) {
    switch (read.from) {
      case EagerRead::kPrevious:
        return previous;
      case EagerRead::kParameter:
        return add_tensor({.values = read.values, .for_each_sample = false, .wants_gradient = trains});
      default:
        return inputs.at(static_cast<std::size_t>(read.from));
    }
  }

  // The result of a function of elements lies as its first input does.
  bool keeps_order(const Node& node) const {
    return trace_.steps.back().operation.traffic == Traffic::elementwise &&
           graph_[node.inputs[0]].shape == node.shape;
  }

  const Graph& graph_;
  CodeForm form_;
  EagerTrace trace_;
  std::vector<std::size_t> block_of_;  // of each node, by its first
  std::vector<Place> places_;          // of each node
};

}  // namespace

EagerTrace eager_trace(const Graph& graph, const CodeForm& form) {
  const Graph fused = with_attention(graph);
  return Tracer(fused, form).trace();
}

}  // namespace bench::kernels
