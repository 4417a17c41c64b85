// A further input of the network: it lies in memory before the step and is not computed.
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class InputLayer final : public LayerOf<InputLayer, InputOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> /*inputs*/) const override {
    const Shape& result = options_.shape;
    require(result.batch_dimension() == 0 && result.is_fixed_from(1), name, "begins with the batch", result);
    return result;
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target, Layout::nchw)};
  }
  bool reads_nothing() const override { return true; }

  void forward(Recorder& recorder) const override { recorder.place_input(); }
  void backward(Recorder& /*recorder*/) const override {}
};

const LayerRegistration<InputOptions, InputLayer> BENCH_REGISTERED{"input"};

}  // namespace
}  // namespace bench::kernels
