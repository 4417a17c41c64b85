// Reductions along dimensions, and their opposite, repetition.
#include "kernels/operations/reduce/reduce.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/pointwise/pointwise.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

class ReduceLayer final : public LayerOf<ReduceLayer, ReduceOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    Shape result;
    for (std::size_t dimension = 0; dimension < in.rank(); ++dimension) {
      const bool gone = is_joined(dimension);
      require(!gone || !in[dimension].per_sample, name, "needs dimensions that keep samples apart", in);
      if (!gone || options_.keep_dims) {
        result.append(gone ? Extent(1) : in[dimension]);
      }
    }
    require(std::ranges::all_of(options_.dimensions, [&](std::size_t d) { return d < in.rank(); }), name,
            "has no such dimension", in);
    return result;
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> inputs,
                     const Target& target) const override {
    return {stored_as(shape, target, options_.keep_dims ? inputs[0].tensor.layout : Layout::nchw)};
  }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    ArrayTensor src = recorder.array();
    Reduce spec = this->spec(recorder, src.array);
    // Sums over channels in blocks that are not full need the order of the dimensions.
    if (!recorder.has(spec)) {
      src = recorder.array(0, Layout::nchw);
      spec.src = src.array;
    }
    recorder.record(spec, {{Slot::src, src.id}, {Slot::dst, recorder.result()}});
  }

  void backward(Recorder& recorder) const override {
    if (!recorder.wants_gradient()) {
      return;
    }
    if (options_.function == ReduceFunction::maximum || options_.function == ReduceFunction::minimum) {
      return share_gradient(recorder);
    }
    const ArrayTensor src = recorder.array();
    Reduce spec = this->spec(recorder, src.array);
    spec.direction = Direction::backward;
    Arguments arguments{{Slot::diff_dst, recorder.diff()}};
    if (!spec.is_linear()) {
      arguments.emplace_back(Slot::src, src.id);
      arguments.emplace_back(Slot::dst, recorder.output());
    }
    arguments.emplace_back(Slot::diff_src, recorder.input_gradient_array(0, src.array.layout).id);
    recorder.record(spec, arguments);
  }

  EagerOperations eager(const LayerPlace& place) const override {
    switch (options_.function) {
      case ReduceFunction::mean:
        return {eager::mean(place)};
      case ReduceFunction::sum:
        return {eager::in_fp32(eager::mean(place))};
      case ReduceFunction::sum_of_squares: {
        const auto values = static_cast<double>(place.input().elements());
        const auto sums = static_cast<double>(place.shape.elements());
        return {eager::in_fp32(eager::elementwise({{{0, values}}, values}, Saved::inputs)),
                eager::in_fp32(eager::mean({{{EagerRead::kPrevious, values}}, sums}))};
      }
      default: {
        EagerOperation reduction = eager::movement(place);
        reduction.saved = Saved::inputs;
        return {reduction};
      }
    }
  }

 private:
  // Elements that are the extreme have equal parts of its gradient, as in PyTorch's amax.
  void share_gradient(Recorder& recorder) const {
    ArrayTensor src = recorder.array();
    Reduce count = this->spec(recorder, src.array);
    count.function = ReduceFunction::sum;
    if (!recorder.has(count)) {
      src = recorder.array(0, Layout::nchw);
      count = this->spec(recorder, src.array);
      count.function = ReduceFunction::sum;
    }
    const auto temporary = [&](const std::string& what, const Array& array) {
      return recorder.temporary(what, array.tensor().bytes(), Content::activation_gradient);
    };
    const auto record = [&](PointwiseFunction function, const ArrayTensor& a, const ArrayTensor& b,
                            const ArrayTensor& dst) {
      recorder.record(Pointwise{.function = function, .inputs = {a.array, b.array}, .dst = dst.array},
                      {{Slot::src, a.id}, {Slot::src1, b.id}, {Slot::dst, dst.id}}, {},
                      fmt::format(" ({})", name_of(function)));
    };
    const ArrayTensor extreme{recorder.output(), count.dst};
    const ArrayTensor is_extreme{temporary("extremes", src.array), src.array};
    record(PointwiseFunction::equal, src, extreme, is_extreme);
    const ArrayTensor alike{temporary("number of extremes", count.dst), count.dst};
    recorder.record(count, {{Slot::src, is_extreme.id}, {Slot::dst, alike.id}}, {}, " (count)");
    const ArrayTensor share{temporary("shares", count.dst), count.dst};
    record(PointwiseFunction::divide, {recorder.diff(), count.dst}, alike, share);
    record(PointwiseFunction::multiply, is_extreme, share,
           recorder.input_gradient_array(0, src.array.layout));
  }

  bool is_joined(std::size_t dimension) const {
    return std::ranges::count(options_.dimensions, dimension) > 0;
  }

  // Without the dimensions that are left out the result lies in memory as with them.
  Reduce spec(const Recorder& recorder, const Array& src) const {
    Array dst{.dims = src.dims, .layout = Layout::nchw, .dtype = src.dtype};
    for (std::size_t dimension = 0; dimension < src.dims.rank(); ++dimension) {
      dst.dims[dimension] = is_joined(dimension) ? 1 : src.dims[dimension];
    }
    if (options_.keep_dims) {
      dst.layout = recorder.dst_array().layout;
    }
    return {.function = options_.function, .src = src, .dst = dst};
  }
};

class ExpandLayer final : public LayerOf<ExpandLayer, ExpandOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    const Shape& to = options_.shape;
    require(in.rank() <= to.rank(), name, "cannot leave out dimensions", in);
    for (std::size_t d = 0; d < in.rank(); ++d) {
      require(in[d] == Extent(1) || in[d] == to[d + to.rank() - in.rank()], name,
              "repeats dimensions of one element only", in);
    }
    return to;
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target, Layout::nchw)};
  }
  bool reads_any_layout() const override { return true; }

  EagerOperations eager(const LayerPlace& /*place*/) const override { return {}; }

  void forward(Recorder& recorder) const override {
    const ArrayTensor src = recorder.array();
    StridedCopy copy{.parts = {{.src = src.array}}, .dst = recorder.dst_array()};
    const std::size_t lacking = copy.dst.dims.rank() - src.array.dims.rank();
    for (std::size_t d = 0; d < src.array.dims.rank(); ++d) {
      copy.parts[0].axes[lacking + d] = {static_cast<int>(d), 0, src.array.dims[d] == 1 ? 0 : 1};
    }
    if (copy.is_the_same_memory()) {
      return recorder.pass_on(src.id);
    }
    recorder.record(copy, {{Slot::src, src.id}, {Slot::dst, recorder.result()}});
  }

  // The gradient of a repeated value is the sum over its copies.
  void backward(Recorder& recorder) const override {
    if (!recorder.wants_gradient()) {
      return;
    }
    const ArrayTensor diff = recorder.diff_array(Layout::nchw);
    const Array own = recorder.array().array;
    Reduce sum{.function = ReduceFunction::sum, .src = diff.array, .dst = {.dims = {}, .dtype = own.dtype}};
    const std::size_t lacking = diff.array.dims.rank() - own.dims.rank();
    for (std::size_t d = 0; d < diff.array.dims.rank(); ++d) {
      sum.dst.dims.append(d < lacking ? 1 : own.dims[d - lacking]);
    }
    if (sum.each() == 1) {
      return recorder.pass_gradient_in_order(0, diff.id);
    }
    recorder.record(sum,
                    {{Slot::src, diff.id}, {Slot::dst, recorder.input_gradient_array(0, Layout::nchw).id}});
  }
};

const LayerRegistration<ReduceOptions, ReduceLayer> BENCH_REGISTERED{"reduce"};
const LayerRegistration<ExpandOptions, ExpandLayer> BENCH_REGISTERED{"expand"};

}  // namespace
}  // namespace bench::kernels
