// Softmax over the last dimension, in inference; in training it is part of the loss.
#include "kernels/operations/softmax/softmax.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class SoftmaxLayer final : public LayerOf<SoftmaxLayer, SoftmaxOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].is_rows(), name, "needs rows of classes", inputs[0]);
    return inputs[0];
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target)};
  }

  void forward(Recorder& recorder) const override {
    recorder.need_shape_order();
    recorder.record(Softmax{.tensor = recorder.rows()},
                    {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  bool part_of_loss() const override { return true; }
};

const LayerRegistration<SoftmaxOptions, SoftmaxLayer> registered{"softmax"};

}  // namespace
}  // namespace bench::kernels
