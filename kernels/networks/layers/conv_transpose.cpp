// Transposed convolutions ("up-convolutions").
#include "kernels/operations/conv_transpose/conv_transpose.h"

#include <algorithm>

#include "kernels/networks/graph/convolution.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class ConvTransposeLayer final : public LayerOf<ConvTransposeLayer, ConvTransposeOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.is_maps(), name, "needs maps", in);
    const ConvTranspose spec = convolution_of(options_, in);
    const auto wrong = spec.invalid();
    require(!wrong, name, wrong.value_or("").c_str(), in);
    return {in[0], options_.channels, spec.dst().h, spec.dst().w};
  }
  std::int64_t macs(const LayerPlace& place) const override {
    return capped_product(place.input().elements(), patch());
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    const std::int64_t pixel = place.input().channels();
    // Products that meet in an output, where patches overlap as many times on average.
    const std::int64_t fan_in =
        pixel / options_.groups *
        std::max<std::int64_t>(1, options_.kernel.h * options_.kernel.w / (stride().h * stride().w));
    std::vector<LayerParameter> all{
        {.slot = Slot::weights, .count = pixel * patch(), .start = of_fan_in(fan_in)}};
    if (options_.bias) {
      all.push_back({.slot = Slot::bias, .count = options_.channels});
    }
    return all;
  }

  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder, Direction::forward),
                    {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    Arguments arguments{{Slot::src, recorder.input()},
                        {Slot::diff_dst, diff},
                        {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)}};
    if (options_.bias) {
      arguments.emplace_back(Slot::diff_bias, recorder.parameter_gradient(Slot::bias));
    }
    recorder.record(spec(recorder, Direction::backward_weights), arguments, {}, " (weights)");
    if (recorder.wants_gradient()) {
      recorder.record(spec(recorder, Direction::backward_data),
                      {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}});
    }
  }
  bool starts_block() const override { return true; }

  // The gradient of a convolution: a product for each pixel that it reads, whose patches are summed.
  EagerOperations eager(const LayerPlace& place) const override {
    const auto groups = static_cast<double>(options_.groups);
    const Shape& in = place.input();
    return {eager::product(place, {.kind = groups > 1 ? ProductClass::grouped : ProductClass::dense,
                                   .rows = static_cast<double>(in.height() * in.width()),
                                   .columns = static_cast<double>(patch()),
                                   .depth = static_cast<double>(in.channels()) / groups,
                                   .count = groups,
                                   .weights = static_cast<double>(in.channels() * patch())})};
  }

 private:
  PerAxis stride() const { return options_.stride.value_or(options_.kernel); }
  std::int64_t patch() const {  // weights of an input channel
    return options_.channels / options_.groups * options_.kernel.h * options_.kernel.w;
  }

  ConvTranspose spec(const Recorder& recorder, Direction direction) const {
    const TensorDesc& src = recorder.src();
    ConvTranspose spec = convolution_of(options_, Shape::maps(src.c, src.h, src.w));
    spec.src = src;
    spec.direction = direction;
    spec.bias = options_.bias && direction != Direction::backward_data;
    return spec;
  }
};

const LayerRegistration<ConvTransposeOptions, ConvTransposeLayer> BENCH_REGISTERED{"conv_transpose"};

}  // namespace
}  // namespace bench::kernels
