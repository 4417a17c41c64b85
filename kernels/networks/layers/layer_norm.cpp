// Normalisation over the last dimension.
#include "kernels/operations/layer_norm/layer_norm.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/layers/norm.h"

namespace bench::kernels {
namespace {

class LayerNormLayer final : public LikeItsInput<LayerNormLayer> {
 public:
  explicit LayerNormLayer(const LayerNormOptions& /*options*/) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].is_rows(), name, "needs rows of features", inputs[0]);
    return inputs[0];
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    return {{.slot = Slot::scale, .count = place.shape.features()},
            {.slot = Slot::shift, .count = place.shape.features()}};
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    init_norm({.name = place.name}, slot, seed, from, values);
  }

  void forward(Recorder& recorder) const override {
    recorder.need_shape_order();
    LayerNorm spec = this->spec(recorder);
    Arguments arguments{{Slot::src, recorder.input()}};
    if (recorder.training()) {
      spec.training = true;
      save_statistics(recorder, arguments, spec.rows);
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec, arguments);
  }

  void backward(Recorder& recorder) const override { record_norm_backward(recorder, spec(recorder)); }

 private:
  static LayerNorm spec(const Recorder& recorder) {
    const TensorDesc rows = recorder.rows();
    return {.rows = rows.n, .width = rows.c, .dtype = rows.dtype};
  }
};

const LayerRegistration<LayerNormOptions, LayerNormLayer> registered{"layer_norm"};

}  // namespace
}  // namespace bench::kernels
