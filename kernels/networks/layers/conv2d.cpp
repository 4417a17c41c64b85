// Convolutions over maps, with what inference folds into them: a batch norm, a sum and an activation.
#include <algorithm>
#include <cmath>

#include "kernels/networks/graph/convolution.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels {
namespace {

class ConvLayer final : public LayerOf<ConvLayer, ConvOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    const ConvOptions& o = options_;
    require(in.is_maps(), name, "needs maps", in);
    require(o.groups > 0 && in.channels() % o.groups == 0 && o.channels % o.groups == 0, name,
            "groups do not divide the channels");
    require(inputs.size() == (residual_ ? 2U : 1U), name, "has the wrong number of inputs");
    const std::int64_t rows = o.dilation.h * (o.kernel.h - 1) + 1;
    const std::int64_t columns = o.dilation.w * (o.kernel.w - 1) + 1;
    return {in[0], o.channels,
            count_windows(name, in.height(), rows, o.stride.h, o.pad.top, o.pad.bottom - o.pad.top),
            count_windows(name, in.width(), columns, o.stride.w, o.pad.left, o.pad.right - o.pad.left)};
  }

  std::int64_t macs(const LayerPlace& place) const override {
    return capped_product(place.shape.elements(), fan_in(place));
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    std::vector<LayerParameter> all{{.slot = Slot::weights,
                                     .count = options_.channels * fan_in(place),
                                     .start = of_fan_in(fan_in(place), options_.gain)}};
    if (options_.bias) {
      all.push_back({.slot = Slot::bias, .count = options_.channels});
    }
    return all;
  }
  // A folded batch norm's scale and shift are still the network's parameters; its bias is made of them.
  std::int64_t trained_values(const LayerPlace& place) const override {
    const std::int64_t channels = options_.channels;
    const bool bias = norm_ ? biased_before_norm_ : options_.bias;
    return channels * fan_in(place) + (norm_ ? 2 * channels : 0) + (bias ? channels : 0);
  }

  // With scale γ, shift β, mean μ and variance σ² of a folded batch norm, for each output channel:
  //   w' = w · γ/√(σ²+ε) and b' = β + (b − μ) · γ/√(σ²+ε)
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    if (slot == Slot::weights || !norm_ || biased_before_norm_) {
      Layer::init(place, slot, seed, from, values);
    }
    if (!norm_) {
      return;
    }
    const auto of_norm = [&](Slot parameter) {
      std::vector<float> all(static_cast<std::size_t>(options_.channels));
      norm_->layer->init(norm_->place, parameter, seed, 0, all);
      return all;
    };
    std::vector<float> factor = of_norm(Slot::scale);
    const std::vector<float> variance = of_norm(Slot::variance);
    for (std::size_t k = 0; k < factor.size(); ++k) {
      factor[k] /= std::sqrt(variance[k] + norm_->epsilon);
    }
    if (slot == Slot::weights) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] *= factor[static_cast<std::size_t>((from + static_cast<std::int64_t>(i)) / fan_in(place))];
      }
      return;
    }
    const std::vector<float> shift = of_norm(Slot::shift);
    const std::vector<float> mean = of_norm(Slot::mean);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t k = static_cast<std::size_t>(from) + i;
      values[i] = shift[k] + ((biased_before_norm_ ? values[i] : 0) - mean[k]) * factor[k];
    }
  }

  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target, target.layouts.inner)};
  }

  void forward(Recorder& recorder) const override {
    const Conv2d spec = this->spec(recorder, Conv2d::Direction::forward, recorder.extra());
    Arguments arguments = recorder.sources();
    InPlace in_place{recorder.result()};
    if (residual_ && recorder.make(spec)->in_place_sum() && recorder.input(0) != recorder.input(1)) {
      in_place.over.push_back(recorder.input(1));
    }
    arguments.emplace_back(Slot::dst, in_place.result);
    recorder.record(spec, arguments, in_place);
  }

  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    Arguments arguments{{Slot::src, recorder.input()},
                        {Slot::diff_dst, diff},
                        {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)}};
    if (options_.bias) {
      arguments.emplace_back(Slot::diff_bias, recorder.parameter_gradient(Slot::bias));
    }
    recorder.record(spec(recorder, Conv2d::Direction::backward_weights, recorder.extra()), arguments, {},
                    " (weights)");
    if (recorder.wants_gradient()) {
      recorder.record(spec(recorder, Conv2d::Direction::backward_data, recorder.extra()),
                      {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}});
    }
  }

  bool take(const Epilogue& epilogue) override {
    if (take_activation(epilogue, activation_)) {
      return true;
    }
    if (activation_ != Activation::none || residual_) {
      return false;
    }
    if (std::holds_alternative<FoldedSum>(epilogue)) {
      residual_ = true;
      return true;
    }
    const auto* const norm = std::get_if<FoldedNorm>(&epilogue);
    if (norm_ || norm == nullptr) {
      return false;
    }
    norm_ = *norm;
    biased_before_norm_ = options_.bias;
    options_.bias = true;  // the norm's shift
    return true;
  }

  std::shared_ptr<Operation> with_extra(Recorder& recorder, const ExtraBytes& extra) const override {
    return recorder.make(spec(recorder, Conv2d::Direction::forward, extra));
  }

  EagerOperations eager(const LayerPlace& place) const override {
    const std::int64_t columns = options_.channels / options_.groups;
    return {eager::product(place, {.kind = eager_class(place),
                                   .rows = static_cast<double>(place.shape.height() * place.shape.width()),
                                   .columns = static_cast<double>(columns),
                                   .depth = static_cast<double>(fan_in(place)),
                                   .count = static_cast<double>(options_.groups),
                                   .weights = static_cast<double>(options_.channels * fan_in(place))})};
  }

 private:
  ProductClass eager_class(const LayerPlace& place) const {
    constexpr std::int64_t kStemChannels = 4;  // so few fill no vector
    const ConvOptions& o = options_;
    const std::int64_t channels = place.input().channels() / o.groups;
    if (o.groups > 1) {
      return channels == 1 ? ProductClass::depthwise : ProductClass::grouped;
    }
    if (o.kernel == 1) {
      return ProductClass::pointwise;
    }
    if (channels <= kStemChannels) {
      return ProductClass::stem;
    }
    return o.kernel == 3 && o.stride.h == 1 && o.dilation == 1 ? ProductClass::winograd : ProductClass::dense;
  }

  std::int64_t fan_in(const LayerPlace& place) const {
    return place.input().channels() / options_.groups * options_.kernel.h * options_.kernel.w;
  }

  Conv2d spec(const Recorder& recorder, Conv2d::Direction direction, const ExtraBytes& extra) const {
    const TensorDesc& src = recorder.src();
    Conv2d spec = convolution_of(options_, Shape::maps(src.c, src.h, src.w));
    spec.batch = src.n;
    spec.direction = direction;
    spec.bias = options_.bias && direction != Conv2d::Direction::backward_data;
    spec.residual = residual_;
    spec.activation = activation_;
    spec.dtype = recorder.target().dtype;
    spec.src_layout = src.layout;
    spec.dst_layout = recorder.target().layouts.inner;
    spec.extra = extra;
    spec.training = recorder.training();
    return spec;
  }

  std::optional<FoldedNorm> norm_;
  bool biased_before_norm_ = false;
  bool residual_ = false;  // the second input is added before the activation
  Activation activation_ = Activation::none;
};

const LayerRegistration<ConvOptions, ConvLayer> BENCH_REGISTERED{"conv2d"};

}  // namespace
}  // namespace bench::kernels
