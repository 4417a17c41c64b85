// Joins values along a dimension, or along their channels, where smaller maps are centred among zeros.
#include "kernels/operations/concat/concat.h"

#include <algorithm>

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
    StridedCopy copy{.parts = {}, .dst = recorder.dst_array()};
    Arguments arguments;
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      const ArrayTensor src = recorder.array(index);
      copy.parts.push_back(StridedCopy::same(src.array));
      arguments.emplace_back(kSources[index], src.id);
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    record(recorder, copy, [&](const auto& spec) { recorder.record(spec, arguments); });
  }
  // Each input by itself: the gradient of a skip connection is read much later than its neighbour's.
  void backward(Recorder& recorder) const override {
    StridedCopy copy{.parts = {}, .dst = recorder.dst_array()};
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      copy.parts.push_back(StridedCopy::same(recorder.array(index).array));
    }
    record(recorder, copy, [&](const auto& spec) { recorder.record_gradient_of_each_input(spec); });
  }

  bool keeps_inputs() const override { return true; }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::join(place)}; }

 private:
  std::size_t dimension(const Shape& shape) const {
    return options_.dimension.value_or(shape.channel_dimension());
  }

  // Records whole pixels where the device has that, else the copy, whose parts do not yet know their places.
  template <class Record>
  void record(Recorder& recorder, StridedCopy& copy, const Record& record) const {
    const Shape& shape = recorder.shape();
    const std::size_t along = dimension(shape);
    Concat pixels;
    std::int64_t before = 0;
    for (StridedCopy::Part& part : copy.parts) {
      pixels.inputs.push_back(part.src.tensor());
      for (std::size_t d = 0; d < shape.rank(); ++d) {
        part.axes[d].start = d == along ? -before : -((copy.dst.dims[d] - part.src.dims[d]) / 2);
      }
      before += part.src.dims[along];
    }
    if (along == 1 && shape.is_maps() && recorder.has(pixels)) {
      record(pixels);
    } else {
      record(copy);
    }
  }
};

const LayerRegistration<ConcatOptions, ConcatLayer> BENCH_REGISTERED{"concat"};

}  // namespace
}  // namespace bench::kernels
