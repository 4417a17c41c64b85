// Normalisation over the features of each position.
#include "kernels/operations/layer_norm/layer_norm.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class LayerNormLayer final : public LikeItsInput<LayerNormLayer> {
 public:
  explicit LayerNormLayer(const LayerNormOptions& /*options*/) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].is_sequence(), name, "needs a sequence");
    return inputs[0];
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    return {{.slot = Slot::scale, .count = place.shape.channels()},
            {.slot = Slot::shift, .count = place.shape.channels()}};
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    init_norm({.name = place.name}, slot, seed, from, values);
  }

  void forward(Recorder& recorder) const override {
    LayerNorm spec = this->spec(recorder);
    Arguments arguments{{Slot::src, recorder.input()}};
    if (recorder.training()) {
      spec.training = true;
      for (const auto& [slot, what] : {std::pair{Slot::mean, "mean"}, {Slot::variance, "variance"}}) {
        arguments.emplace_back(slot, recorder.save(slot, what, 4 * spec.rows, Content::statistic));
      }
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec, arguments);
  }

  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    LayerNorm spec = this->spec(recorder);
    spec.direction = Direction::backward;
    const TensorId scale = recorder.parameter_gradient(Slot::scale);
    const TensorId shift = recorder.parameter_gradient(Slot::shift);
    const TensorId made = recorder.input_gradient();
    recorder.record(spec,
                    {{Slot::src, recorder.input()},
                     {Slot::mean, recorder.saved(Slot::mean).value()},
                     {Slot::variance, recorder.saved(Slot::variance).value()},
                     {Slot::diff_dst, diff},
                     {Slot::diff_src, made},
                     {Slot::diff_scale, scale},
                     {Slot::diff_shift, shift}},
                    {made, {diff}});
  }

 private:
  static LayerNorm spec(const Recorder& recorder) {
    const TensorDesc& dst = recorder.dst();
    return {.rows = dst.n * dst.h, .width = dst.c, .dtype = recorder.target().dtype};
  }
};

const LayerRegistration<LayerNormOptions, LayerNormLayer> registered{"layer_norm"};

}  // namespace
}  // namespace bench::kernels
