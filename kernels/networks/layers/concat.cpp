// Joins values along a dimension, or along their channels, where smaller maps are centred among zeros.
#include <algorithm>
#include <vector>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

class ConcatLayer final : public LayerOf<ConcatLayer, ConcatOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() >= 2 && inputs.size() <= kSources.size(), name, "joins 2 to 64 values");
    Shape joined = inputs[0];
    const std::size_t along = dimension(joined);
    require(along < joined.rank(), name, "has no such dimension", joined);
    joined[along].size = 0;
    for (const Shape& in : inputs) {
      require(in.rank() == joined.rank() && !in[along].per_sample, name,
              "needs inputs that are alike in their other dimensions", in);
      for (std::size_t d = 0; d < in.rank(); ++d) {
        const bool centred = !options_.dimension && in.is_maps() && inputs[0].is_maps() && d > 1;
        require(d == along || centred || in[d] == joined[d], name,
                "needs inputs that are alike in their other dimensions", in);
        joined[d].size = d == along ? joined[d].size + in[d].size : std::max(joined[d].size, in[d].size);
      }
    }
    return joined;
  }
  // As the device prefers if one of them is.
  StoredValue stored(const Shape& shape, std::span<const StoredValue> inputs,
                     const Target& target) const override {
    const bool preferred = std::ranges::any_of(
        inputs, [&](const StoredValue& input) { return input.tensor.layout == target.layouts.inner; });
    return {stored_as(shape, target, preferred ? target.layouts.inner : inputs[0].tensor.layout)};
  }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    Arguments arguments;
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      arguments.emplace_back(kSources[index], recorder.array(index).id);
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(copy(recorder), arguments);
  }
  // Each input by itself: the gradient of a skip connection is read much later than its neighbour's.
  void backward(Recorder& recorder) const override { recorder.record_gradient_of_each_input(copy(recorder)); }

  bool keeps_inputs() const override { return true; }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::join(place)}; }

 private:
  std::size_t dimension(const Shape& shape) const {
    return options_.dimension.value_or(shape.channel_dimension());
  }

  StridedCopy copy(Recorder& recorder) const {
    std::vector<Array> sources;
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      sources.push_back(recorder.array(index).array);
    }
    return StridedCopy::joined(sources, recorder.dst_array(), dimension(recorder.shape()));
  }
};

const LayerRegistration<ConcatOptions, ConcatLayer> BENCH_REGISTERED{"concat"};

}  // namespace
}  // namespace bench::kernels
