// Maps of scores as rows of classes, one after the other: what a loss over pixels or over predicted boxes
// reads. A map has the scores of one or more rows at each pixel: channel a · classes + k is class k of the
// pixel's row a. Rows follow each other map by map, then pixel by pixel in reading order, then a.
#include <algorithm>
#include <vector>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

class RowsLayer final : public LayerOf<RowsLayer, RowsOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() <= kSources.size(), name, "takes 1 to 64 maps");
    std::int64_t rows = 0;
    for (const Shape& map : inputs) {
      require(map.is_maps() && map[0] == inputs[0][0] && options_.classes > 0 &&
                  map.channels() % options_.classes == 0,
              name, "needs maps whose channels are whole rows of classes", map);
      rows += map.channels() * map.height() * map.width() / options_.classes;
    }
    return {inputs[0][0], rows, options_.classes};
  }

  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    const bool alike = have_as_many_channels(recorder);
    Arguments arguments;
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      const ArrayTensor map = alike ? recorder.array(index) : recorder.array(index, Layout::nhwc);
      arguments.emplace_back(kSources[index], map.id);
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(copy(recorder, alike), arguments);
  }
  void backward(Recorder& recorder) const override {
    const bool alike = have_as_many_channels(recorder);
    recorder.record_gradient_of_each_input(copy(recorder, alike),
                                           alike ? std::nullopt : std::optional(Layout::nhwc));
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::movement(place)}; }

 private:
  static bool have_as_many_channels(const Recorder& recorder) {
    bool alike = true;
    for (std::size_t index = 1; index < recorder.inputs(); ++index) {
      alike = alike && recorder.src(index).c == recorder.src().c;
    }
    return alike;
  }

  // In nhwc a pixel's rows lie together: with as many channels each the result is one map whose pixels are
  // those of all maps. Otherwise rows are its pixels, and those of maps that are in nhwc too.
  StridedCopy copy(const Recorder& recorder, bool alike) const {
    const std::int64_t channels = alike ? recorder.src().c : options_.classes;
    const auto pixels = [&](const TensorDesc& map, Layout layout) {
      return Array{.dims = {map.n, channels, map.c * map.h * map.w / channels, 1},
                   .layout = layout,
                   .dtype = map.dtype};
    };
    std::vector<Array> maps;
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      const TensorDesc map = recorder.src(index);
      maps.push_back(pixels(map, alike ? map.layout : Layout::nhwc));
    }
    return StridedCopy::joined(maps, pixels(recorder.dst(), Layout::nhwc), 2);
  }
};

const LayerRegistration<RowsOptions, RowsLayer> BENCH_REGISTERED{"rows"};

}  // namespace
}  // namespace bench::kernels
