// Layers that only move elements: reshape, transpose, slice and pad.
#include <utility>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

class ReshapeLayer final : public LayerOf<ReshapeLayer, ReshapeOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    // At two batches, so that one that is hidden in another number is seen.
    for (const std::int64_t batch : {1, 2}) {
      require(inputs[0].elements(batch) == options_.shape.elements(batch), name,
              "has another number of elements than its input", inputs[0]);
    }
    return options_.shape;
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target, Layout::nchw)};
  }
  bool reads_any_layout() const override { return true; }
  EagerOperations eager(const LayerPlace& /*place*/) const override { return {}; }

  void forward(Recorder& recorder) const override { recorder.pass_on(recorder.array(0, Layout::nchw).id); }
  void backward(Recorder& recorder) const override {
    if (recorder.wants_gradient()) {
      recorder.pass_gradient_in_order(0, recorder.diff());
    }
  }
};

// One whose result is a strided copy: Derived::describe() changes the copy of a whole input into it.
template <class Derived, class Options>
class CopyLayer : public LayerOf<Derived, Options> {  // NOLINT(bugprone-crtp-constructor-accessibility)
 public:
  using LayerOf<Derived, Options>::LayerOf;
  // Maps stay as they were stored, everything else is in the order of its dimensions.
  StoredValue stored(const Shape& shape, std::span<const StoredValue> inputs,
                     const Target& target) const override {
    return {stored_as(shape, target, inputs.front().tensor.layout)};
  }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    const ArrayTensor src = recorder.array();
    const StridedCopy copy = this->copy(src.array, recorder.dst_array());
    if (copy.is_the_same_memory()) {
      return recorder.pass_on(src.id);
    }
    recorder.record(copy, {{Slot::src, src.id}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    if (!recorder.wants_gradient()) {
      return;
    }
    const ArrayTensor diff = recorder.diff_array();
    const ArrayTensor src = recorder.array();
    StridedCopy copy = this->copy(src.array, diff.array);
    copy.direction = Direction::backward;
    recorder.record(copy, {{Slot::diff_dst, diff.id},
                           {Slot::diff_src, recorder.input_gradient_array(0, src.array.layout).id}});
  }

 private:
  StridedCopy copy(const Array& src, const Array& dst) const {
    StridedCopy copy{.parts = {StridedCopy::same(src)}, .dst = dst};
    static_cast<const Derived&>(*this).describe(copy);
    return copy;
  }
};

class TransposeLayer final : public CopyLayer<TransposeLayer, TransposeOptions> {
 public:
  using CopyLayer::CopyLayer;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(options_.order.size() == in.rank(), name, "needs an order of all dimensions", in);
    Shape result;
    std::array<bool, Shape::kMostDims> taken{};
    for (const std::size_t dimension : options_.order) {
      require(dimension < in.rank() && !std::exchange(taken[dimension], true), name,
              "needs each dimension once in its order", in);
      result.append(in[dimension]);
    }
    return result;
  }
  // Rows that become maps are stored as the device prefers, what is no maps any more in order.
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    const bool become_maps = options_.order == std::vector<std::size_t>{0, 3, 1, 2};
    return {stored_as(shape, target, become_maps ? target.layouts.inner : Layout::nchw)};
  }

  EagerOperations eager(const LayerPlace& /*place*/) const override { return {}; }

  void describe(StridedCopy& copy) const {
    for (std::size_t dimension = 0; dimension < options_.order.size(); ++dimension) {
      copy.parts[0].axes[dimension].dimension = static_cast<int>(options_.order[dimension]);
    }
  }
};

class SliceLayer final : public CopyLayer<SliceLayer, SliceOptions> {
 public:
  using CopyLayer::CopyLayer;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    Shape result = inputs[0];
    const SliceOptions& o = options_;
    require(o.dimension < result.rank() && !result[o.dimension].per_sample, name,
            "needs a dimension that does not depend on the batch", result);
    const std::int64_t last = o.start + o.step * (o.size - 1);
    const std::int64_t size = result[o.dimension].size;
    require(o.size > 0 && o.start >= 0 && o.start < size && last >= 0 && last < size, name,
            "needs elements of its input", result);
    result[o.dimension].size = o.size;
    return result;
  }

  // A slice that runs backward is a copy.
  EagerOperations eager(const LayerPlace& place) const override {
    return options_.step > 0 ? EagerOperations{} : EagerOperations{eager::movement(place)};
  }

  void describe(StridedCopy& copy) const {
    auto& axis = copy.parts[0].axes[options_.dimension];
    axis.start = options_.start;
    axis.step = options_.size == 1 ? 1 : options_.step;
  }
};

class PadLayer final : public CopyLayer<PadLayer, PadOptions> {
 public:
  using CopyLayer::CopyLayer;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    Shape result = inputs[0];
    require(options_.before.size() == result.rank() && options_.behind.size() == result.rank(), name,
            "needs two sizes for each dimension", result);
    for (std::size_t dimension = 0; dimension < result.rank(); ++dimension) {
      const std::int64_t added = options_.before[dimension] + options_.behind[dimension];
      const bool none = options_.before[dimension] == 0 && options_.behind[dimension] == 0;
      require(none || (!result[dimension].per_sample && result[dimension].size + added > 0), name,
              "cannot pad a dimension of the batch, or to less than one element", result);
      const std::int64_t least = std::min(options_.before[dimension], options_.behind[dimension]);
      const std::int64_t most = std::max(options_.before[dimension], options_.behind[dimension]);
      const bool repeats = options_.outside != StridedCopy::Outside::value;
      require(!repeats || (least >= 0 &&
                           (options_.outside == StridedCopy::Outside::edge || most < result[dimension].size)),
              name, "needs pads of 0 and more where it repeats elements, and of less than what it reflects",
              result);
      result[dimension].size += added;
    }
    return result;
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::movement(place)}; }

  void describe(StridedCopy& copy) const {
    copy.outside = options_.outside;
    copy.value = options_.value;
    for (std::size_t dimension = 0; dimension < options_.before.size(); ++dimension) {
      copy.parts[0].axes[dimension].start = -options_.before[dimension];
    }
  }
};

const LayerRegistration<ReshapeOptions, ReshapeLayer> BENCH_REGISTERED{"reshape"};
const LayerRegistration<TransposeOptions, TransposeLayer> BENCH_REGISTERED{"transpose"};
const LayerRegistration<SliceOptions, SliceLayer> BENCH_REGISTERED{"slice"};
const LayerRegistration<PadOptions, PadLayer> BENCH_REGISTERED{"pad"};

}  // namespace
}  // namespace bench::kernels
