// The layers of networks of text: embeddings, layer normalisation, attention, GELU.
#include <stdexcept>

#include "kernels/networks/train/layers.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

}  // namespace

std::shared_ptr<Operation> LayerRecorder::sequence_with_parameters(Value value) {
  switch (graph_[value].kind) {
    case LayerKind::embedding:
      return make(embedding_of(graph_, value, target_));
    case LayerKind::position_embedding:
      return make(position_embedding_of(graph_, value, target_));
    case LayerKind::layer_norm: {
      LayerNorm spec = layer_norm_of(graph_, value, target_);
      spec.pass = LayerNorm::Pass::training;
      return make(spec);
    }
    default:
      return nullptr;
  }
}

void LayerRecorder::forward_sequence(Value value) {
  const TensorId src = this->value(graph_[value].inputs.at(0));
  switch (graph_[value].kind) {
    case LayerKind::embedding:
      record(forward_name(value), embedding_of(graph_, value, target_),
             {{Slot::src, src}, {Slot::weights, weight(value, Slot::weights)}, {Slot::dst, result(value)}});
      return;
    case LayerKind::position_embedding: {
      const TensorId dst = result(value);
      record(forward_name(value), position_embedding_of(graph_, value, target_),
             {{Slot::src, src}, {Slot::weights, weight(value, Slot::weights)}, {Slot::dst, dst}},
             std::pair{dst, src});
      return;
    }
    case LayerKind::layer_norm:
      return forward_layer_norm(value);
    case LayerKind::attention: {
      Attention spec = attention_of(graph_, value, target_);
      spec.pass = Attention::Pass::training;
      saved_[value].opaque =
          fresh("probabilities of " + graph_[value].name, spec.probabilities().bytes(), Content::activation);
      record(forward_name(value), spec,
             {{Slot::src, src}, {Slot::saved, *saved_[value].opaque}, {Slot::dst, result(value)}});
      return;
    }
    default:
      throw std::logic_error(graph_[value].name + " is no layer of a sequence");
  }
}

void LayerRecorder::backward_sequence(Value value, TensorId diff) {
  const Value input = graph_[value].inputs.at(0);
  switch (graph_[value].kind) {
    case LayerKind::embedding: {
      // Behind a head that shares the table, or an earlier micro-batch, the few rows named are added to what
      // is there: no second gradient as large as the table.
      const TensorId gradient = parameter(value, Slot::weights)->gradient;
      Embedding spec = embedding_of(graph_, value, target_);
      spec.direction = Embedding::Direction::backward;
      spec.add = !written_.insert(gradient).second;
      record(backward_name(value), spec,
             {{Slot::src, this->value(input)}, {Slot::diff_dst, diff}, {Slot::diff_weights, gradient}});
      return;
    }
    case LayerKind::position_embedding: {
      const TensorId gradient = gradient_target(value, Slot::weights);
      PositionEmbedding spec = position_embedding_of(graph_, value, target_);
      spec.direction = PositionEmbedding::Direction::backward;
      record(backward_name(value), spec, {{Slot::diff_dst, diff}, {Slot::diff_weights, gradient}});
      add_up(value, Slot::weights, gradient);
      contribute(input, diff);  // a sum has the gradient of its summands
      return;
    }
    case LayerKind::layer_norm:
      return backward_layer_norm(value, diff);
    case LayerKind::attention: {
      Attention spec = attention_of(graph_, value, target_);
      spec.pass = Attention::Pass::backward;
      record(backward_name(value), spec,
             {{Slot::src, this->value(input)},
              {Slot::saved, saved_[value].opaque.value()},
              {Slot::diff_dst, diff},
              {Slot::diff_src, input_gradient(value)}});
      return;
    }
    default:
      throw std::logic_error(graph_[value].name + " is no layer of a sequence");
  }
}

void LayerRecorder::forward_layer_norm(Value value) {
  const Layer& layer = graph_[value];
  LayerNorm spec = layer_norm_of(graph_, value, target_);
  spec.pass = LayerNorm::Pass::training;
  Saved& saved = saved_[value];
  saved.mean = fresh("mean of " + layer.name, 4 * spec.rows, Content::statistic);
  saved.variance = fresh("variance of " + layer.name, 4 * spec.rows, Content::statistic);
  record(forward_name(value), spec,
         {{Slot::src, this->value(layer.inputs[0])},
          {Slot::scale, weight(value, Slot::scale)},
          {Slot::shift, weight(value, Slot::shift)},
          {Slot::mean, *saved.mean},
          {Slot::variance, *saved.variance},
          {Slot::dst, result(value)}});
}

void LayerRecorder::backward_layer_norm(Value value, TensorId diff) {
  LayerNorm spec = layer_norm_of(graph_, value, target_);
  spec.pass = LayerNorm::Pass::backward;
  const TensorId scale = gradient_target(value, Slot::scale);
  const TensorId shift = gradient_target(value, Slot::shift);
  const TensorId made = input_gradient(value);
  record(backward_name(value), spec,
         {{Slot::src, this->value(graph_[value].inputs[0])},
          {Slot::mean, saved_[value].mean.value()},
          {Slot::variance, saved_[value].variance.value()},
          {Slot::scale, weight(value, Slot::scale)},
          {Slot::diff_dst, diff},
          {Slot::diff_src, made},
          {Slot::diff_scale, scale},
          {Slot::diff_shift, shift}},
         std::pair{made, diff});
  add_up(value, Slot::scale, scale);
  add_up(value, Slot::shift, shift);
}

void LayerRecorder::forward_gelu(Value value) {
  const TensorId src = this->value(graph_[value].inputs[0]);
  const TensorId dst = result(value);
  record(forward_name(value), Gelu{.tensor = desc(value)}, {{Slot::src, src}, {Slot::dst, dst}},
         std::pair{dst, src});
}

void LayerRecorder::backward_gelu(Value value, TensorId diff) {
  const Value input = graph_[value].inputs[0];
  if (!wants_gradient(input)) {
    return;
  }
  const TensorId made = input_gradient(value);
  record(backward_name(value), Gelu{.tensor = desc(value), .direction = Gelu::Direction::backward},
         {{Slot::src, this->value(input)}, {Slot::diff_dst, diff}, {Slot::diff_src, made}},
         std::pair{made, diff});
}

}  // namespace bench::kernels
