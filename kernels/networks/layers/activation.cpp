// Functions applied to each element.
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels {
namespace {

class ActivationLayer final : public LikeItsInput<ActivationLayer, ActivationOptions> {
 public:
  using LikeItsInput::LikeItsInput;

  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    const TensorId src = recorder.input();
    if (recorder.is_activated()) {
      return recorder.pass_on(src);
    }
    const TensorId dst = recorder.result();
    recorder.record(Elementwise{.tensor = recorder.src(), .activation = options_.activation},
                    {{Slot::src, src}, {Slot::dst, dst}}, {dst, {src}});
  }

  void backward(Recorder& recorder) const override {
    if (!recorder.wants_gradient()) {
      return;
    }
    if (recorder.is_sloped()) {
      return recorder.pass_gradient(0, recorder.diff());
    }
    const bool from_result = slope().slope_from() == Slot::dst;
    // Where two layers read the result, as after a residual sum, the two gradients are added on the way.
    const std::vector<TensorId> parts = recorder.diff_parts(from_result ? 2 : 1);
    const bool summed = parts.size() > 1;
    const TensorId made = recorder.input_gradient();
    Arguments arguments{{slope().slope_from(), from_result ? recorder.output() : recorder.input()},
                        {Slot::diff_dst, parts.back()},
                        {Slot::diff_src, made}};
    if (summed) {
      arguments.emplace_back(Slot::src1, parts.front());
    }
    Elementwise backward = slope();
    backward.tensor = recorder.dst();
    backward.summands = summed ? 2 : 1;
    recorder.record(backward, arguments, {made, {parts.back()}});
  }

  std::optional<Epilogue> epilogue(const LayerPlace& /*place*/) const override { return options_.activation; }

  EagerOperations eager(const LayerPlace& place) const override {
    using K = ActivationKind;
    const Activation& function = options_.activation;
    switch (function.kind) {
      case K::none:
        return {};
      case K::linear:
        return scaled_and_shifted(place);
      case K::relu6:
      case K::clip:
      case K::hard_sigmoid:
        return {eager::elementwise(place, Saved::inputs)};
      case K::softplus:
      case K::reciprocal:
      case K::power:
      case K::exp:
      case K::log:
        return {eager::in_fp32(eager::elementwise(place, saved()))};
      case K::gelu:
      case K::gelu_erf:
        return {gelu(place, function.kind == K::gelu)};
      default:
        return {eager::elementwise(place, saved())};
    }
  }

 private:
  // Written out as x/2 · (1 + erf(x/√2)), five operations, the error function saves what it reads, and the
  // product its factors. By the hyperbolic tangent it is nine: x/2 · (1 + tanh(√(2/π) · (x + 0.0447 · x³))).
  static EagerOperation gelu(const LayerPlace& place, bool by_tanh) {
    EagerOperation operation = eager::elementwise(place, Saved::inputs);
    const double values = operation.flow.written;
    operation.written_out =
        by_tanh
            ? WrittenOut{.saved = 2 * values, .moved = 16 * values, .backward = 25 * values, .is_wide = true}
            : WrittenOut{.saved = 2 * values, .moved = 9 * values, .backward = 14 * values};
    return operation;
  }

  Saved saved() const { return slope_reads_result(options_.activation) ? Saved::result : Saved::inputs; }

  // By numbers, an operation each.
  EagerOperations scaled_and_shifted(const LayerPlace& place) const {
    EagerOperations operations;
    if (options_.activation.alpha != 1) {
      operations.push_back(eager::scaled(place));
    }
    if (options_.activation.beta != 0) {
      const EagerFlow scaled = eager::previous(static_cast<double>(place.shape.elements()));
      operations.push_back(eager::sum(operations.empty() ? EagerFlow(place) : scaled));
    }
    return operations;
  }

  Elementwise slope() const {
    return {.tensor = {}, .activation = options_.activation, .direction = Direction::backward};
  }
};

const LayerRegistration<ActivationOptions, ActivationLayer> BENCH_REGISTERED{"activation"};

}  // namespace
}  // namespace bench::kernels
