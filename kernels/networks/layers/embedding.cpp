// Rows of a learned table: one for each token, or one for each position, which is added to a sequence.
#include "kernels/operations/embedding/embedding.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

// A layer whose only parameter is a table.
template <class Base>
class TableLayer : public Base {
 public:
  using Base::Base;

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    return {{.slot = Slot::weights,
             .count = this->options_.rows * place.shape.channels(),
             .start = of_deviation(this->options_.deviation),
             .table = true}};
  }

 protected:
  Embedding spec(const Recorder& recorder) const {
    const TensorDesc& dst = recorder.dst();
    return {.rows = dst.n * dst.h,
            .vocabulary = this->options_.rows,
            .width = dst.c,
            .dtype = recorder.target().dtype};
  }
};

class EmbeddingLayer final : public TableLayer<LayerOf<EmbeddingLayer, EmbeddingOptions>> {
 public:
  using TableLayer::TableLayer;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].rank() == 2 && options_.rows > 0, name, "needs tokens", inputs[0]);
    return {inputs[0][0], inputs[0][1], options_.width};
  }
  EagerOperations eager(const LayerPlace& place) const override {
    const auto values = static_cast<double>(place.shape.elements());
    return {eager::movement({{{EagerRead::kParameter, values}}, values})};
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
    backward.direction = Direction::backward;
    backward.add = holds;
    recorder.record(backward,
                    {{Slot::src, recorder.input()}, {Slot::diff_dst, diff}, {Slot::diff_weights, total}});
  }
};

class PositionEmbeddingLayer final
    : public TableLayer<LikeItsInput<PositionEmbeddingLayer, PositionEmbeddingOptions>> {
 public:
  using TableLayer::TableLayer;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].is_sequence() && inputs[0][1].size <= options_.rows, name,
            "needs a sequence of no more than its positions", inputs[0]);
    return inputs[0];
  }
  // The rows are looked up, and added to each sample.
  EagerOperations eager(const LayerPlace& place) const override {
    const auto values = static_cast<double>(place.shape.elements());
    EagerOperation rows = eager::movement({{{EagerRead::kParameter, values}}, values});
    rows.for_each_sample = false;
    return {rows, eager::sum({{{0, values}, {EagerRead::kPrevious, values}}, values})};
  }

  void forward(Recorder& recorder) const override {
    const TensorId src = recorder.input();
    const TensorId dst = recorder.result();
    recorder.record(of_positions(recorder), {{Slot::src, src}, {Slot::dst, dst}}, {dst, {src}});
  }
  // A sum has the gradient of its summands.
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    Embedding backward = of_positions(recorder);
    backward.direction = Direction::backward;
    recorder.record(
        backward, {{Slot::diff_dst, diff}, {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)}});
    recorder.pass_gradient(0, diff);
  }

 private:
  Embedding of_positions(const Recorder& recorder) const {
    Embedding positions = spec(recorder);
    positions.kind = Embedding::Kind::positions;
    positions.sequence = recorder.dst().h;
    return positions;
  }
};

const LayerRegistration<EmbeddingOptions, EmbeddingLayer> BENCH_REGISTERED{"embedding"};
const LayerRegistration<PositionEmbeddingOptions, PositionEmbeddingLayer> BENCH_REGISTERED{
    "position_embedding"};

}  // namespace
}  // namespace bench::kernels
