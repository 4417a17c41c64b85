// Maps of scores as rows of classes.
#include "kernels/operations/rows/rows.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class RowsLayer final : public LayerOf<RowsLayer, RowsOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() <= kSources.size(), name, "takes 1 to 4 maps");
    std::int64_t rows = 0;
    for (const Shape& map : inputs) {
      require(map.is_maps() && map[0] == inputs[0][0] && options_.classes > 0 &&
                  map.channels() % options_.classes == 0,
              name, "needs maps whose channels are whole rows of classes", map);
      rows += map.channels() * map.height() * map.width() / options_.classes;
    }
    return {inputs[0][0], rows, options_.classes};
  }

  void forward(Recorder& recorder) const override {
    Arguments arguments = recorder.sources();
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec(recorder), arguments);
  }
  void backward(Recorder& recorder) const override { recorder.record_gradient_of_each_input(spec(recorder)); }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::movement(place)}; }

 private:
  Rows spec(const Recorder& recorder) const {
    Rows spec{.maps = {}, .classes = options_.classes};
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      spec.maps.push_back(recorder.src(index));
    }
    return spec;
  }
};

const LayerRegistration<RowsOptions, RowsLayer> BENCH_REGISTERED{"rows"};

}  // namespace
}  // namespace bench::kernels
