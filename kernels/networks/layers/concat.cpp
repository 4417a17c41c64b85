// Joins values along their channels; smaller maps are centred among zeros.
#include <algorithm>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/concat/concat.h"

namespace bench::kernels {
namespace {

class ConcatLayer final : public LayerOf<ConcatLayer, ConcatOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() >= 2 && inputs.size() <= kSources.size(), name, "joins 2 to 4 maps");
    Shape joined = inputs[0];
    const std::size_t channels = joined.channel_dimension();
    joined[channels].size = 0;
    for (const Shape& in : inputs) {
      require(in.rank() == joined.rank() && !in[channels].per_sample, name,
              "joins channels of inputs that are alike otherwise", in);
      for (std::size_t dimension = 0; dimension < in.rank(); ++dimension) {
        const bool centred = in.is_maps() && inputs[0].is_maps() && dimension > 1;
        require(dimension == channels || centred || in[dimension] == joined[dimension], name,
                "joins channels of inputs that are alike otherwise", in);
        joined[dimension].size = dimension == channels ? joined[dimension].size + in[dimension].size
                                                       : std::max(joined[dimension].size, in[dimension].size);
      }
    }
    return joined;
  }

  void forward(Recorder& recorder) const override {
    recorder.need_shape_order();
    Arguments arguments = recorder.sources();
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec(recorder), arguments);
  }
  // Each input by itself: the gradient of a skip connection is read much later than its neighbour's.
  void backward(Recorder& recorder) const override { recorder.record_gradient_of_each_input(spec(recorder)); }

  bool keeps_inputs() const override { return true; }

 private:
  static Concat spec(const Recorder& recorder) {
    Concat spec;
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      spec.inputs.push_back(recorder.src(index));
    }
    return spec;
  }
};

const LayerRegistration<ConcatOptions, ConcatLayer> registered{"concat"};

}  // namespace
}  // namespace bench::kernels
