// Maps of twice the height and width: each pixel four times.
#include "kernels/operations/upsample/upsample.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class UpsampleLayer final : public LayerOf<UpsampleLayer, UpsampleOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.is_maps(), name, "needs maps", in);
    return {in[0], in.channels(), 2 * in.height(), 2 * in.width()};
  }

  void forward(Recorder& recorder) const override {
    recorder.record(Upsample{.src = recorder.src()},
                    {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    if (recorder.wants_gradient()) {
      recorder.record(Upsample{.src = recorder.src(), .direction = Direction::backward},
                      {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}});
    }
  }
  EagerOperations eager(const LayerPlace& place) const override { return {eager::movement(place)}; }
};

const LayerRegistration<UpsampleOptions, UpsampleLayer> BENCH_REGISTERED{"upsample"};

}  // namespace
}  // namespace bench::kernels
