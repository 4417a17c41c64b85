// Softmax, or its logarithm, over a dimension. At a network's end it is in training part of the loss.
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
    const Shape& in = inputs[0];
    require(options_.dimension || in.is_rows(), name, "needs rows of classes", in);
    const std::size_t along = dimension(in);
    require(along < in.rank() && !in[along].per_sample, name, "needs a dimension without the batch", in);
    return in;
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> inputs,
                     const Target& target) const override {
    return {stored_as(shape, target, over_channels(shape) ? inputs[0].tensor.layout : Layout::nchw)};
  }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    Softmax spec = this->spec(recorder);
    spec.training = recorder.training();
    const TensorId src = recorder.array(0, recorder.dst_array().layout).id;
    const TensorId dst = recorder.result();
    recorder.record(spec, {{Slot::src, src}, {Slot::dst, dst}});
  }
  void backward(Recorder& recorder) const override {
    if (!recorder.wants_gradient()) {
      return;
    }
    Softmax spec = this->spec(recorder);
    spec.direction = Direction::backward;
    const TensorId diff = recorder.diff();
    const TensorId made = recorder.input_gradient_array(0, recorder.dst_array().layout).id;
    recorder.record(spec, {{Slot::dst, recorder.output()}, {Slot::diff_dst, diff}, {Slot::diff_src, made}},
                    {made, {diff}});
  }
  // The cross-entropy of rows of classes is computed from what the softmax reads.
  bool part_of_loss(const Shape& shape) const override {
    return dimension(shape) == shape.channel_dimension();
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::softmax(place)}; }

 private:
  std::size_t dimension(const Shape& shape) const {
    return options_.dimension.value_or(shape.is_flat() ? shape.channel_dimension() : shape.rank() - 1);
  }
  bool over_channels(const Shape& shape) const {
    return shape.is_maps() && dimension(shape) == shape.channel_dimension();
  }

  Softmax spec(const Recorder& recorder) const {
    const Shape& shape = recorder.shape();
    const Array dst = recorder.dst_array();
    if (over_channels(shape)) {
      return {.tensor = dst.tensor(), .log = options_.log};
    }
    // As three dimensions: those before the softmax's, its own, those after it.
    TensorDesc tensor{.n = 1, .c = 1, .layout = Layout::nchw, .dtype = dst.dtype};
    const std::size_t along = dimension(shape);
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      (d < along ? tensor.n : d == along ? tensor.c : tensor.h) *= dst.dims[d];
    }
    if (tensor.h == 1) {
      tensor.layout = Layout::nhwc;
    }
    return {.tensor = tensor, .log = options_.log};
  }
};

const LayerRegistration<SoftmaxOptions, SoftmaxLayer> BENCH_REGISTERED{"softmax"};

}  // namespace
}  // namespace bench::kernels
