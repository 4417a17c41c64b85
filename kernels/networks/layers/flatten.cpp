// Maps as features, in the order in which they are stored: nothing is computed.
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class FlattenLayer final : public LayerOf<FlattenLayer, FlattenOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.rank() > 1 && !in.is_sequence() && in.is_fixed_from(1), name,
            "needs maps, with the batch as the first dimension", in);
    return {in[0], in.elements() / in[0].size};
  }
  // Channel padding is flattened along: the columns it meets are zero.
  StoredValue stored(const Shape& shape, std::span<const StoredValue> inputs,
                     const Target& target) const override {
    if (inputs[0].flattened) {
      return inputs[0];
    }
    StoredValue flat{stored_as(shape, target), inputs[0].tensor};
    flat.tensor.c = inputs[0].tensor.bytes() / bytes_of(target.dtype) / flat.tensor.n;
    flat.flattened->n = 1;
    return flat;
  }

  bool computes() const override { return false; }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override { recorder.pass_on(recorder.input()); }
  void backward(Recorder& recorder) const override { recorder.pass_gradient(0, recorder.diff()); }
};

const LayerRegistration<FlattenOptions, FlattenLayer> BENCH_REGISTERED{"flatten"};

}  // namespace
}  // namespace bench::kernels
