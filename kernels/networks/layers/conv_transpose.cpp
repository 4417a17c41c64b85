// Transposed convolutions ("up-convolutions") whose patches touch and do not overlap.
#include "kernels/operations/conv_transpose/conv_transpose.h"
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
    return {in[0], options_.channels, in.height() * options_.kernel, in.width() * options_.kernel};
  }
  std::int64_t macs(const LayerPlace& place) const override {
    return place.input().elements() * options_.channels * options_.kernel * options_.kernel;
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    const std::int64_t patch = options_.channels * options_.kernel * options_.kernel;
    const std::int64_t pixel = place.input().channels();  // the fan-in: patches do not overlap
    return {{.slot = Slot::weights, .count = pixel * patch, .start = of_fan_in(pixel)},
            {.slot = Slot::bias, .count = options_.channels}};
  }

  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder, Direction::forward),
                    {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    recorder.record(spec(recorder, Direction::backward_weights),
                    {{Slot::src, recorder.input()},
                     {Slot::diff_dst, diff},
                     {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)},
                     {Slot::diff_bias, recorder.parameter_gradient(Slot::bias)}},
                    {}, " (weights)");
    if (recorder.wants_gradient()) {
      recorder.record(spec(recorder, Direction::backward_data),
                      {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}});
    }
  }
  bool starts_block() const override { return true; }

 private:
  ConvTranspose spec(const Recorder& recorder, Direction direction) const {
    return {.src = recorder.src(),
            .out_channels = options_.channels,
            .kernel = options_.kernel,
            .stride = options_.kernel,
            .direction = direction,
            .bias = direction != Direction::backward_data};
  }
};

const LayerRegistration<ConvTransposeOptions, ConvTransposeLayer> registered{"conv_transpose"};

}  // namespace
}  // namespace bench::kernels
