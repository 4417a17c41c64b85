// The sum of two values of one shape.
#include "bench/error.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels {
namespace {

class AddLayer final : public LikeItsInput<AddLayer, AddOptions> {
 public:
  using LikeItsInput::LikeItsInput;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() == 2 && inputs[0] == inputs[1], name, "adds tensors of different shapes");
    return inputs[0];
  }

  void forward(Recorder& recorder) const override {
    if (recorder.src(0) != recorder.src(1)) {
      throw Unsupported(recorder.name() + " adds tensors stored in different layouts");
    }
    const Activation behind = recorder.take_next_activation(TakesSlope::no);
    const TensorId dst = recorder.result();
    recorder.record(Elementwise{.tensor = recorder.src(),
                                .activation = behind == Activation::none ? activation_ : behind,
                                .summands = 2},
                    {{Slot::src, recorder.input(0)}, {Slot::src1, recorder.input(1)}, {Slot::dst, dst}},
                    {dst, {recorder.input(0), recorder.input(1)}});
  }
  // Both summands have the sum's gradient.
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    recorder.pass_gradient(0, diff);
    recorder.pass_gradient(1, diff);
  }

  std::optional<Epilogue> epilogue(const std::string& /*name*/) const override { return FoldedSum{}; }
  bool take(const Epilogue& epilogue) override { return take_activation(epilogue, activation_); }

 private:
  Activation activation_ = Activation::none;  // behind the sum
};

const LayerRegistration<AddOptions, AddLayer> registered{"add"};

}  // namespace
}  // namespace bench::kernels
