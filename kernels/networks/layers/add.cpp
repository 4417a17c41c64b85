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

  bool reads_any_layout() const override { return true; }
  // As the device prefers if one of them is.
  StoredValue stored(const Shape& /*shape*/, std::span<const StoredValue> inputs,
                     const Target& target) const override {
    return inputs[inputs[1].tensor.layout == target.layouts.inner ? 1 : 0];
  }

  void forward(Recorder& recorder) const override {
    const TensorId one = given(recorder, 0);
    const TensorId other = given(recorder, 1);
    const Activation behind = recorder.take_next_activation(TakesSlope::no);
    const TensorId dst = recorder.result();
    recorder.record(Elementwise{.tensor = recorder.dst(),
                                .activation = behind == Activation::none ? activation_ : behind,
                                .summands = 2},
                    {{Slot::src, one}, {Slot::src1, other}, {Slot::dst, dst}}, {dst, {one, other}});
  }
  // Both summands have the sum's gradient.
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    recorder.pass_gradient(0, diff);
    recorder.pass_gradient(1, diff);
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::sum(place)}; }

  std::optional<Epilogue> epilogue(const LayerPlace& /*place*/) const override { return FoldedSum{}; }
  bool take(const Epilogue& epilogue) override { return take_activation(epilogue, activation_); }

 private:
  // An input as the result is stored.
  static TensorId given(Recorder& recorder, std::size_t index) {
    const TensorDesc src = recorder.src(index);
    if (src.layout != recorder.dst().layout) {
      return recorder.array(index, recorder.dst().layout).id;
    }
    if (src != recorder.dst()) {
      throw Unsupported(recorder.name() + " adds features that are stored in different orders");
    }
    return recorder.input(index);
  }

  Activation activation_ = Activation::none;  // after the sum
};

const LayerRegistration<AddOptions, AddLayer> BENCH_REGISTERED{"add"};

}  // namespace
}  // namespace bench::kernels
