// A learned vector for each position, added to a sequence.
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/embedding/embedding.h"

namespace bench::kernels {
namespace {

class PositionEmbeddingLayer final : public LikeItsInput<PositionEmbeddingLayer> {
 public:
  explicit PositionEmbeddingLayer(const PositionEmbeddingOptions& options) : options_(options) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].is_sequence() && inputs[0][1].size <= options_.rows, name,
            "needs a sequence of no more than its positions", inputs[0]);
    return inputs[0];
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    return {{.slot = Slot::weights, .count = options_.rows * place.shape.channels(), .table = true}};
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    if (slot != Slot::weights) {
      return Layer::init(place, slot, seed, from, values);
    }
    fill_uniform(values, 0, spread_of(options_.deviation), seed, stream_of(place.name, "weight"), from);
  }

  void forward(Recorder& recorder) const override {
    const TensorId src = recorder.input();
    const TensorId dst = recorder.result();
    recorder.record(spec(recorder), {{Slot::src, src}, {Slot::dst, dst}}, {dst, {src}});
  }
  // A sum has the gradient of its summands.
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    Embedding backward = spec(recorder);
    backward.direction = Direction::backward;
    recorder.record(
        backward, {{Slot::diff_dst, diff}, {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)}});
    recorder.pass_gradient(0, diff);
  }

 private:
  Embedding spec(const Recorder& recorder) const {
    const TensorDesc& dst = recorder.dst();
    return {.rows = dst.n * dst.h,
            .vocabulary = options_.rows,
            .width = dst.c,
            .dtype = recorder.target().dtype,
            .kind = Embedding::Kind::positions,
            .sequence = dst.h};
  }

  PositionEmbeddingOptions options_;
};

const LayerRegistration<PositionEmbeddingOptions, PositionEmbeddingLayer> registered{"position_embedding"};

}  // namespace
}  // namespace bench::kernels
