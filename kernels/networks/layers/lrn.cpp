// Local response normalisation of maps.
#include "kernels/operations/lrn/lrn.h"

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class LrnLayer final : public LayerOf<LrnLayer, LrnOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].is_maps(), name, "needs maps", inputs[0]);
    require(options_.size > 0 && options_.size % 2 == 1, name, "needs an odd number of channels");
    return inputs[0];
  }

  // In training the forward pass keeps what the implementation of the gradient asks for.
  void forward(Recorder& recorder) const override {
    Lrn spec = this->spec(recorder);
    spec.training = recorder.training() && recorder.wants_gradient() &&
                    recorder.make(gradient(recorder))->find(Slot::saved) != nullptr;
    Arguments arguments{{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}};
    if (const SlotInfo* const saved = recorder.make(spec)->find(Slot::saved)) {
      arguments.emplace_back(Slot::saved,
                             recorder.save(Slot::saved, "divisors", saved->bytes, Content::statistic));
    }
    recorder.record(spec, arguments);
  }
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    if (!recorder.wants_gradient()) {
      return;
    }
    Arguments arguments{
        {Slot::src, recorder.input()}, {Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}};
    if (const auto saved = recorder.saved(Slot::saved)) {
      arguments.emplace_back(Slot::saved, *saved);
    }
    recorder.record(gradient(recorder), arguments);
  }

  // x / (k + alpha · mean of x²)^beta, an operation each; the mean over channels that are padded.
  EagerOperations eager(const LayerPlace& place) const override {
    const auto values = static_cast<double>(place.shape.elements());
    const EagerFlow before = eager::previous(values);
    return {eager::factors({{{0, values}, {0, values}}, values}, Saved::inputs),
            eager::movement(before),
            eager::movement(before),
            eager::factors(before, Saved::nothing),
            eager::sum(before),
            eager::in_fp32(eager::elementwise(before, Saved::inputs)),
            eager::factors({{{0, values}, {EagerRead::kPrevious, values}}, values}, Saved::inputs)};
  }

 private:
  Lrn spec(const Recorder& recorder) const {
    return {.tensor = recorder.src(),
            .size = options_.size,
            .alpha = options_.alpha,
            .beta = options_.beta,
            .k = options_.k,
            .training = recorder.training()};
  }
  Lrn gradient(const Recorder& recorder) const {
    Lrn backward = spec(recorder);
    backward.direction = Direction::backward;
    return backward;
  }
};

const LayerRegistration<LrnOptions, LrnLayer> BENCH_REGISTERED{"lrn"};

}  // namespace
}  // namespace bench::kernels
