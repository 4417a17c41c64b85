// A row of a table for each token.
#include "kernels/operations/embedding/embedding.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class EmbeddingLayer final : public LayerOf<EmbeddingLayer> {
 public:
  explicit EmbeddingLayer(const EmbeddingOptions& options) : options_(options) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].rank() == 2 && options_.rows > 0, name, "needs tokens", inputs[0]);
    return {inputs[0][0], inputs[0][1], options_.width};
  }

  std::vector<LayerParameter> parameters(const LayerPlace& /*place*/) const override {
    return {{.slot = Slot::weights, .count = options_.rows * options_.width, .table = true}};
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    if (slot != Slot::weights) {
      return Layer::init(place, slot, seed, from, values);
    }
    fill_uniform(values, 0, spread_of(options_.deviation), seed, stream_of(place.name, "weight"), from);
  }

  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target)};
  }

  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder), {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  // Behind a head that shares the table, or an earlier micro-batch, the few rows named are added to what is
  // there: no second gradient as large as the table.
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    const auto [total, holds] = recorder.total_gradient(Slot::weights);
    Embedding backward = spec(recorder);
    backward.direction = Embedding::Direction::backward;
    backward.add = holds;
    recorder.record(backward,
                    {{Slot::src, recorder.input()}, {Slot::diff_dst, diff}, {Slot::diff_weights, total}});
  }

 private:
  Embedding spec(const Recorder& recorder) const {
    const TensorDesc& dst = recorder.dst();
    return {.rows = dst.n * dst.h,
            .vocabulary = options_.rows,
            .width = options_.width,
            .dtype = recorder.target().dtype};
  }

  EmbeddingOptions options_;
};

const LayerRegistration<EmbeddingOptions, EmbeddingLayer> registered{"embedding"};

}  // namespace
}  // namespace bench::kernels
