// Elements of a dimension in the order of a list.
#include "kernels/operations/gather/gather.h"

#include <algorithm>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class GatherLayer final : public LayerOf<GatherLayer, GatherOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    Shape result = inputs[0];
    require(options_.dimension < result.rank(), name, "has no such dimension", result);
    Extent& along = result[options_.dimension];
    require(!along.per_sample, name, "would mix the samples of a batch", result);
    require(!options_.indices.empty(), name, "takes at least one element");
    require(std::ranges::all_of(options_.indices,
                                [&](std::int32_t i) { return i >= -along.size && i < along.size; }),
            name, "takes elements that there are", result);
    along.size = static_cast<std::int64_t>(options_.indices.size());
    return result;
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target, Layout::nchw)};
  }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    const ArrayTensor src = recorder.array(0, Layout::nchw);
    recorder.record(spec(src.array), {{Slot::src, src.id}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    if (!recorder.wants_gradient()) {
      return;
    }
    const TensorId diff = recorder.diff_array(Layout::nchw).id;
    const ArrayTensor made = recorder.input_gradient_array(0, Layout::nchw);
    Gather spec = this->spec(made.array);
    spec.direction = Direction::backward;
    recorder.record(spec, {{Slot::diff_dst, diff}, {Slot::diff_src, made.id}});
  }

  EagerOperations eager(const LayerPlace& place) const override {
    const auto values = static_cast<double>(place.shape.elements());
    return {eager::movement({{{0, values}}, values})};
  }

 private:
  Gather spec(const Array& src) const {
    Gather spec{.extent = src.dims[options_.dimension], .indices = options_.indices, .dtype = src.dtype};
    for (std::size_t dimension = 0; dimension < src.dims.rank(); ++dimension) {
      spec.outer *= dimension < options_.dimension ? src.dims[dimension] : 1;
      spec.inner *= dimension > options_.dimension ? src.dims[dimension] : 1;
    }
    for (std::int32_t& index : spec.indices) {
      index += index < 0 ? static_cast<std::int32_t>(spec.extent) : 0;
    }
    return spec;
  }
};

const LayerRegistration<GatherOptions, GatherLayer> BENCH_REGISTERED{"gather"};

}  // namespace
}  // namespace bench::kernels
