// A value that is a parameter: a table of positions, a class token, factors of channels, a constant.
#include "kernels/operations/parameter/parameter.h"

#include <algorithm>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class ParameterLayer final : public LayerOf<ParameterLayer, ParameterOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> /*inputs*/) const override {
    const Shape& result = options_.shape;
    require(result.is_fixed_from(0), name, "does not depend on the batch", result);
    require(options_.values.empty() || static_cast<std::int64_t>(options_.values.size()) == result.elements(),
            name, "has another number of values than its shape", result);
    return result;
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target, Layout::nchw)};
  }
  bool reads_nothing() const override { return true; }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    return {{.slot = Slot::weights,
             .count = place.shape.elements(),
             .start = options_.start,
             .trained = options_.trained,
             .table = true}};
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    if (options_.values.empty() || place.drawn != nullptr) {
      return Layer::init(place, slot, seed, from, values);
    }
    std::copy_n(options_.values.begin() + from, values.size(), values.begin());
  }

  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder), {{Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    if (options_.trained) {
      Parameter backward = spec(recorder);
      backward.direction = Direction::backward;
      recorder.record(backward, {{Slot::diff_dst, recorder.diff()},
                                 {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)}});
    }
  }

 private:
  static Parameter spec(const Recorder& recorder) {
    return {.count = recorder.shape().elements(), .dtype = recorder.target().dtype};
  }
};

const LayerRegistration<ParameterOptions, ParameterLayer> BENCH_REGISTERED{"parameter"};

}  // namespace
}  // namespace bench::kernels
