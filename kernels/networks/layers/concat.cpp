// Joins maps along their channels; smaller maps are centred among zeros.
#include <algorithm>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/concat/concat.h"

namespace bench::kernels {
namespace {

class ConcatLayer final : public LayerOf<ConcatLayer> {
 public:
  explicit ConcatLayer(const ConcatOptions& /*options*/) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() >= 2 && inputs.size() <= kSources.size(), name, "joins 2 to 4 maps");
    Shape joined{inputs[0][0], 0, 1, 1};
    for (const Shape& map : inputs) {
      require(map.is_maps(), name, "needs maps");
      joined[1].size += map.channels();
      joined[2].size = std::max(joined[2].size, map.height());
      joined[3].size = std::max(joined[3].size, map.width());
    }
    return joined;
  }

  void forward(Recorder& recorder) const override {
    Arguments arguments = recorder.sources();
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec(recorder), arguments);
  }
  // Each input by itself: the gradient of a skip connection is read much later than its neighbour's.
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      if (recorder.wants_gradient(index)) {
        Concat backward = spec(recorder);
        backward.direction = Direction::backward;
        backward.index = index;
        recorder.record(backward, {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient(index)}},
                        {}, " (" + recorder.input_name(index) + ")");
      }
    }
  }

  bool keeps_inputs() const override { return true; }

 private:
  static Concat spec(const Recorder& recorder) {
    Concat spec;
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      spec.inputs.push_back(recorder.src(index));
    }
    return spec;
  }
};

const LayerRegistration<ConcatOptions, ConcatLayer> registered{"concat"};

}  // namespace
}  // namespace bench::kernels
