// Maps in another size.
#include "kernels/operations/resize/resize.h"

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class ResizeLayer final : public LayerOf<ResizeLayer, ResizeOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.is_maps(), name, "needs maps", in);
    require(options_.height > 0 && options_.width > 0, name, "makes maps of at least one pixel");
    return {in[0], in.channels(), options_.height, options_.width};
  }

  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder), {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    if (recorder.wants_gradient()) {
      Resize backward = spec(recorder);
      backward.direction = Direction::backward;
      recorder.record(backward, {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}});
    }
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::movement(place)}; }

 private:
  Resize spec(const Recorder& recorder) const {
    const TensorDesc src = recorder.src();
    const ResizeOptions& o = options_;
    return {.src = src,
            .rows = ResizeAxis::of(o.coordinates, src.h, o.height, o.height_scale),
            .columns = ResizeAxis::of(o.coordinates, src.w, o.width, o.width_scale),
            .kind = o.kind,
            .rounding = o.rounding,
            .cubic = o.cubic};
  }
};

const LayerRegistration<ResizeOptions, ResizeLayer> BENCH_REGISTERED{"resize"};

}  // namespace
}  // namespace bench::kernels
