#include "kernels/networks/train/layers.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels {

using Value = Graph::Value;

LayerRecorder::LayerRecorder(const Graph& graph, const Target& target, Device& device, TrainingStep& step)
    : graph_(graph),
      target_(target),
      device_(device),
      step_(step),
      values_(graph.layers().size()),
      gradients_(graph.layers().size()),
      saved_(graph.layers().size()) {}

Conv2d LayerRecorder::conv2d(Value value, Conv2d::Direction direction) const {
  Conv2d spec = conv2d_of(graph_, value, target_, {});
  spec.direction = direction;
  spec.bias = spec.bias && direction != Conv2d::Direction::backward_data;
  spec.training = true;
  spec.extra.scratch = convolution_scratch_;
  return spec;
}

Linear LayerRecorder::linear(Value value, Linear::Direction direction) const {
  Linear spec = linear_of(graph_, value, target_);
  spec.direction = direction;
  spec.bias = spec.bias && direction != Linear::Direction::backward_data;
  return spec;
}

void LayerRecorder::start_micro_batch(std::string suffix) {
  suffix_ = std::move(suffix);
  for (auto& gradients : gradients_) {
    gradients.clear();
  }
}

TensorId LayerRecorder::fresh(const std::string& name, std::int64_t bytes, Content content) {
  return step_.program.tensor(name + suffix_, bytes, content);
}

TensorId LayerRecorder::result(Value value) {
  values_[value] = fresh(graph_[value].name, desc(value).bytes(), Content::activation);
  return *values_[value];
}

TensorId LayerRecorder::input_gradient(Value value, std::size_t index) {
  const Value input = graph_[value].inputs[index];
  const TensorId made =
      fresh("gradient of " + graph_[input].name, desc(input).bytes(), Content::activation_gradient);
  contribute(input, made);
  return made;
}

TensorId LayerRecorder::gradient(Value value) {
  add_contributions(value, 1);
  return gradients_[value].front();
}

void LayerRecorder::add_contributions(Value value, std::size_t most) {
  std::vector<TensorId>& parts = gradients_[value];
  while (parts.size() > most) {
    const TensorId one = parts.back();
    parts.pop_back();
    const TensorId other = parts.back();
    const TensorId sum =
        fresh("gradient of " + graph_[value].name, desc(value).bytes(), Content::activation_gradient);
    record("sum of gradients " + graph_[value].name + suffix_, Add{.tensor = desc(value)},
           {{Slot::src, one}, {Slot::src1, other}, {Slot::dst, sum}}, std::pair{sum, one});
    parts.back() = sum;
  }
}

Activation LayerRecorder::activation_of_sum(Value value) const {
  const auto& layers = graph_.layers();
  const bool followed = device_.host_accessible() && layers[value].kind == LayerKind::add &&
                        value + 1 < layers.size() && layers[value + 1].kind == LayerKind::activation &&
                        layers[value + 1].inputs[0] == value &&
                        layers[value + 1].activation != Activation::gelu;
  const auto reads = [&](const Layer& layer) { return std::ranges::count(layer.inputs, value) > 0; };
  return followed && std::ranges::count_if(layers, reads) == 1 ? layers[value + 1].activation
                                                               : Activation::none;
}

void LayerRecorder::forward_again(Value value) {
  const std::string suffix = suffix_;
  suffix_ += " again";
  forward(value);
  suffix_ = suffix;
}

void LayerRecorder::forward(Value value) {
  const Layer& layer = graph_[value];
  const TensorId src = values_.at(layer.inputs.at(0)).value();
  const TensorDesc src_desc = desc(layer.inputs[0]);
  switch (layer.kind) {
    case LayerKind::conv2d: {
      Arguments arguments{
          {Slot::src, src}, {Slot::weights, weight(value, Slot::weights)}, {Slot::dst, result(value)}};
      if (layer.bias) {
        arguments.emplace_back(Slot::bias, weight(value, Slot::bias));
      }
      record(forward_name(value), conv2d(value, Conv2d::Direction::forward), arguments);
      return;
    }
    case LayerKind::linear: {
      Arguments arguments{
          {Slot::src, src}, {Slot::weights, weight(value, Slot::weights)}, {Slot::dst, result(value)}};
      if (layer.bias) {
        arguments.emplace_back(Slot::bias, weight(value, Slot::bias));
      }
      record(forward_name(value), linear(value, Linear::Direction::forward), arguments);
      return;
    }
    case LayerKind::batch_norm: {
      // Of one value normalisation leaves 0, of two always −1 and 1, whatever they were.
      if (src_desc.n * src_desc.h * src_desc.w <= 2) {
        throw Unsupported(
            fmt::format("{} would normalise over {} values of each channel, which leaves no "
                        "gradient; training needs a larger batch or image",
                        layer.name, src_desc.n * src_desc.h * src_desc.w));
      }
      Saved& saved = saved_[value];
      saved.mean = fresh("mean of " + layer.name, 4 * src_desc.c, Content::statistic);
      saved.variance = fresh("variance of " + layer.name, 4 * src_desc.c, Content::statistic);
      record(forward_name(value), BatchNorm{.tensor = src_desc, .training = true},
             {{Slot::src, src},
              {Slot::scale, weight(value, Slot::scale)},
              {Slot::shift, weight(value, Slot::shift)},
              {Slot::mean, *saved.mean},
              {Slot::variance, *saved.variance},
              {Slot::dst, result(value)}});
      return;
    }
    case LayerKind::activation: {
      if (layer.activation == Activation::gelu) {
        return forward_gelu(value);
      }
      if (activation_of_sum(layer.inputs[0]) != Activation::none) {
        values_[value] = src;
        return;
      }
      const TensorId dst = result(value);
      record(forward_name(value), Relu{.tensor = src_desc, .activation = layer.activation},
             {{Slot::src, src}, {Slot::dst, dst}}, std::pair{dst, src});
      return;
    }
    case LayerKind::max_pool: {
      Pool pool = max_pool_of(layer, src_desc);
      pool.training = true;
      Arguments arguments{{Slot::src, src}, {Slot::dst, result(value)}};
      if (const SlotInfo* opaque = make(pool)->find(Slot::saved)) {
        saved_[value].opaque = fresh("choices of " + layer.name, opaque->bytes, Content::statistic);
        arguments.emplace_back(Slot::saved, *saved_[value].opaque);
      }
      record(forward_name(value), pool, arguments);
      return;
    }
    case LayerKind::average_pool: {
      const Arguments arguments{{Slot::src, src}, {Slot::dst, result(value)}};
      if (const auto pool = average_pool_of(layer, src_desc)) {
        record(forward_name(value), *pool, arguments);
      } else {
        record(forward_name(value), AdaptivePool{.src = src_desc, .height = layer.size, .width = layer.size},
               arguments);
      }
      return;
    }
    case LayerKind::add: {
      const TensorId dst = result(value);
      record(forward_name(value), Add{.tensor = src_desc, .activation = activation_of_sum(value)},
             {{Slot::src, src}, {Slot::src1, values_.at(layer.inputs.at(1)).value()}, {Slot::dst, dst}},
             std::pair{dst, src});
      return;
    }
    case LayerKind::flatten:
      values_[value] = src;
      return;
    case LayerKind::concat:
    case LayerKind::upsample:
    case LayerKind::conv_transpose:
    case LayerKind::rows:
      return forward_vision(value);
    case LayerKind::embedding:
    case LayerKind::position_embedding:
    case LayerKind::layer_norm:
    case LayerKind::attention:
      return forward_sequence(value);
    default:
      throw Unsupported(layer.name + " cannot be trained");
  }
}

void LayerRecorder::backward(Value value) {
  if (gradients_[value].empty()) {
    return;
  }
  const Layer& layer = graph_[value];
  if (layer.kind == LayerKind::activation && layer.activation != Activation::gelu) {
    return backward_activation(value);
  }
  const TensorId diff = gradient(value);
  switch (layer.kind) {
    case LayerKind::conv2d:
      backward_weighted(value, diff, conv2d(value, Conv2d::Direction::backward_weights),
                        conv2d(value, Conv2d::Direction::backward_data));
      return;
    case LayerKind::linear:
      backward_weighted(value, diff, linear(value, Linear::Direction::backward_weights),
                        linear(value, Linear::Direction::backward_data));
      return;
    case LayerKind::conv_transpose:
      backward_weighted(value, diff, conv_transpose(value, ConvTranspose::Direction::backward_weights),
                        conv_transpose(value, ConvTranspose::Direction::backward_data));
      return;
    case LayerKind::batch_norm:
      backward_batch_norm(value, diff);
      return;
    case LayerKind::max_pool:
    case LayerKind::average_pool:
      backward_pool(value, diff);
      return;
    case LayerKind::activation:
      return backward_gelu(value, diff);
    case LayerKind::add:  // both summands have the sum's gradient
      contribute(layer.inputs[0], diff);
      contribute(layer.inputs[1], diff);
      return;
    case LayerKind::flatten:
      contribute(layer.inputs[0], diff);
      return;
    case LayerKind::concat:
    case LayerKind::upsample:
    case LayerKind::rows:
      return backward_vision(value, diff);
    case LayerKind::embedding:
    case LayerKind::position_embedding:
    case LayerKind::layer_norm:
    case LayerKind::attention:
      return backward_sequence(value, diff);
    default:
      throw Unsupported(layer.name + " cannot be trained");
  }
}

template <class Spec>
void LayerRecorder::backward_weighted(Value value, TensorId diff, const Spec& of_weights,
                                      const Spec& of_data) {
  const Layer& layer = graph_[value];
  const TensorId weights = gradient_target(value, Slot::weights);
  Arguments arguments{
      {Slot::src, this->value(layer.inputs[0])}, {Slot::diff_dst, diff}, {Slot::diff_weights, weights}};
  if (layer.bias) {
    arguments.emplace_back(Slot::diff_bias, gradient_target(value, Slot::bias));
  }
  const std::optional<TensorId> bias = layer.bias ? std::optional(arguments.back().second) : std::nullopt;
  record(backward_name(value) + " (weights)", of_weights, arguments);
  add_up(value, Slot::weights, weights);
  if (bias) {
    add_up(value, Slot::bias, *bias);
  }
  if (wants_gradient(layer.inputs[0])) {
    record(backward_name(value), of_data,
           {{Slot::diff_dst, diff},
            {Slot::weights, weight(value, Slot::weights)},
            {Slot::diff_src, input_gradient(value)}});
  }
}

void LayerRecorder::backward_batch_norm(Value value, TensorId diff) {
  const Layer& layer = graph_[value];
  const TensorId scale = gradient_target(value, Slot::scale);
  const TensorId shift = gradient_target(value, Slot::shift);
  const TensorId made = input_gradient(value);
  record(backward_name(value), BatchNormBackward{.tensor = desc(layer.inputs[0])},
         {{Slot::src, this->value(layer.inputs[0])},
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

// Where two layers read the result, as behind a residual sum, the two gradients are added on the way.
void LayerRecorder::backward_activation(Value value) {
  const Layer& layer = graph_[value];
  if (!wants_gradient(layer.inputs[0])) {
    return;
  }
  add_contributions(value, device_.host_accessible() ? 2 : 1);
  const std::vector<TensorId> parts = gradients_[value];
  const TensorId made = input_gradient(value);
  Arguments arguments{
      {Slot::dst, this->value(value)}, {Slot::diff_dst, parts.back()}, {Slot::diff_src, made}};
  const bool summed = parts.size() > 1;
  if (summed) {
    arguments.emplace_back(Slot::src1, parts.front());
  }
  record(backward_name(value),
         ReluBackward{.tensor = desc(value), .activation = layer.activation, .summed = summed}, arguments,
         std::pair{made, parts.back()});
}

void LayerRecorder::backward_pool(Value value, TensorId diff) {
  const Layer& layer = graph_[value];
  if (!wants_gradient(layer.inputs[0])) {
    return;
  }
  const TensorDesc src = desc(layer.inputs[0]);
  Arguments arguments{{Slot::diff_dst, diff}, {Slot::diff_src, input_gradient(value)}};
  if (layer.kind == LayerKind::max_pool) {
    Pool pool = max_pool_of(layer, src);
    pool.training = true;
    if (saved_[value].opaque) {
      arguments.emplace_back(Slot::saved, *saved_[value].opaque);
    }
    record(backward_name(value), PoolBackward{.forward = pool}, arguments);
  } else if (const auto pool = average_pool_of(layer, src)) {
    record(backward_name(value), PoolBackward{.forward = *pool}, arguments);
  } else {
    record(backward_name(value),
           AdaptivePoolBackward{.forward = {.src = src, .height = layer.size, .width = layer.size}},
           arguments);
  }
}

}  // namespace bench::kernels
