// Functions of two or three values with broadcasting.
#include "kernels/operations/pointwise/pointwise.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

// The shape that all inputs are repeated to.
Shape common_shape(const std::string& name, std::span<const Shape> inputs) {
  Shape common;
  std::size_t rank = 0;
  for (const Shape& input : inputs) {
    rank = std::max(rank, input.rank());
  }
  for (std::size_t dimension = 0; dimension < rank; ++dimension) {
    Extent extent = 1;
    for (const Shape& input : inputs) {
      if (dimension + input.rank() < rank) {
        continue;
      }
      const Extent& own = input[dimension + input.rank() - rank];
      require(own == Extent(1) || extent == Extent(1) || own == extent, name,
              "needs dimensions that are alike or 1, counted from the last", input);
      extent = own == Extent(1) ? extent : own;
    }
    common.append(extent);
  }
  return common;
}

class PointwiseLayer final : public LayerOf<PointwiseLayer, PointwiseOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() == (options_.function == PointwiseFunction::where ? 3U : 2U), name,
            "has the wrong number of inputs");
    return common_shape(name, inputs);
  }
  // Maps are stored as an input is that the device prefers, else in the order of the dimensions.
  StoredValue stored(const Shape& shape, std::span<const StoredValue> inputs,
                     const Target& target) const override {
    const TensorDesc maps = stored_as(shape, target, target.layouts.inner);
    const bool preferred = std::ranges::any_of(inputs, [&](const StoredValue& input) {
      return input.tensor.layout == maps.layout && input.tensor.elements() == maps.elements();
    });
    return {preferred ? maps : stored_as(shape, target, Layout::nchw)};
  }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    Pointwise spec = this->spec(recorder.dst_array());
    Arguments arguments;
    std::vector<TensorId> alike;  // whose memory the result may take
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      const ArrayTensor input = recorder.array(index);
      spec.inputs.push_back(input.array);
      arguments.emplace_back(kSources[index], input.id);
      if (input.array == spec.dst) {
        alike.push_back(input.id);
      }
    }
    const TensorId dst = recorder.result();
    arguments.emplace_back(Slot::dst, dst);
    recorder.record(spec, arguments, {dst, alike});
  }

  void backward(Recorder& recorder) const override {
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      if (has_gradient(options_.function) && recorder.wants_gradient(index) &&
          !(options_.function == PointwiseFunction::where && index == 0)) {
        record_gradient(recorder, index);
      }
    }
  }

  EagerOperations eager(const LayerPlace& place) const override {
    using F = PointwiseFunction;
    switch (options_.function) {
      case F::add:
        return {eager::sum(place)};
      case F::subtract:
        return {eager::elementwise(place, Saved::nothing)};
      case F::multiply:
      case F::divide:
        return {eager::factors(place, Saved::inputs)};
      case F::power:
        return {eager::in_fp32(eager::elementwise(place, Saved::inputs))};
      case F::where:
        return {eager::movement(place)};
      default:
        return {eager::elementwise(place, has_gradient(options_.function) ? Saved::inputs : Saved::nothing)};
    }
  }

 private:
  Pointwise spec(const Array& dst) const { return {.function = options_.function, .inputs = {}, .dst = dst}; }

  void record_gradient(Recorder& recorder, std::size_t index) const {
    Pointwise spec = this->spec(recorder.dst_array());
    spec.direction = Direction::backward;
    spec.index = index;
    for (std::size_t input = 0; input < recorder.inputs(); ++input) {
      spec.inputs.push_back(recorder.array(input).array);
    }
    const bool passed_on = spec.inputs[index].dims == spec.dst.dims &&
                           (options_.function == PointwiseFunction::add ||
                            (options_.function == PointwiseFunction::subtract && index == 0));
    if (passed_on) {
      return recorder.pass_gradient(index, recorder.diff());
    }
    // Sums over channels in blocks that are not full need the order of the dimensions.
    const bool as_stored = recorder.has(spec);
    if (!as_stored) {
      spec.dst.layout = Layout::nchw;
      for (Array& input : spec.inputs) {
        input.layout = Layout::nchw;
      }
    }
    Arguments arguments{{Slot::diff_dst, recorder.diff_array(spec.dst.layout).id}};
    for (std::size_t input = 0; input < recorder.inputs(); ++input) {
      if (spec.reads(input)) {
        arguments.emplace_back(kSources[input], recorder.array(input, spec.inputs[input].layout).id);
      }
    }
    arguments.emplace_back(Slot::diff_src,
                           recorder.input_gradient_array(index, spec.inputs[index].layout).id);
    recorder.record(spec, arguments, {}, fmt::format(" (input {})", index));
  }
};

const LayerRegistration<PointwiseOptions, PointwiseLayer> BENCH_REGISTERED{"pointwise"};

}  // namespace
}  // namespace bench::kernels
