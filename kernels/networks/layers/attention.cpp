// Attention over a sequence of queries, keys and values.
#include "kernels/operations/attention/attention.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class AttentionLayer final : public LayerOf<AttentionLayer, AttentionOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    Shape result = inputs[0];
    const std::int64_t heads = options_.heads;
    require(inputs.size() == 1 || inputs.size() == 3, name, "reads one value or three");
    if (inputs.size() == 1) {
      require(result.is_sequence() && heads > 0 && result.channels() % (3 * heads) == 0, name,
              "needs queries, keys and values of its heads", result);
      result[2].size /= 3;
      return result;
    }
    require(result.is_sequence() && heads > 0 && result.channels() % heads == 0, name,
            "needs queries of its heads", result);
    for (const Shape& keys : inputs.subspan(1)) {
      require(keys.is_sequence() && keys[0] == result[0] && keys[2] == result[2] && keys == inputs[1] &&
                  (!options_.causal || keys == result),
              name, "needs as many keys as values, like the queries", keys);
    }
    return result;
  }
  // The two products; those with masked positions counted.
  std::int64_t macs(const LayerPlace& place) const override {
    return capped_product(2 * place.inputs.back().height(), place.shape.elements());
  }
  // The scores of every head, and the result.
  std::int64_t product_values(const LayerPlace& place) const override {
    return options_.heads * place.shape.height() * place.inputs.back().height() + place.shape.elements();
  }

  void forward(Recorder& recorder) const override {
    Attention spec = this->spec(recorder);
    Arguments arguments = recorder.sources();
    if (recorder.training()) {
      spec.training = true;
      spec.statistics = keeps_statistics(recorder, spec);
      arguments.emplace_back(Slot::saved,
                             recorder.save(Slot::saved, spec.statistics ? "statistics" : "probabilities",
                                           spec.saved_bytes(), Content::activation));
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec, arguments);
  }

  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    Attention spec = this->spec(recorder);
    spec.direction = Direction::backward;
    spec.statistics = keeps_statistics(recorder, spec);
    Arguments arguments = recorder.sources();
    arguments.emplace_back(Slot::saved, recorder.saved(Slot::saved).value());
    if (spec.statistics) {
      arguments.emplace_back(Slot::dst, recorder.output());
    }
    arguments.emplace_back(Slot::diff_dst, diff);
    for (std::size_t index = 0; index < recorder.inputs(); ++index) {
      arguments.emplace_back(kAttentionGradients.at(index), recorder.input_gradient(index));
    }
    recorder.record(spec, arguments);
  }

  // The queries are scaled, and the heads put side by side again.
  EagerOperations eager(const LayerPlace& place) const override {
    const auto queries = static_cast<double>(place.shape.elements());
    const auto positions = static_cast<double>(place.inputs.back().height());
    const auto width = static_cast<double>(place.shape.channels());
    const auto heads = static_cast<double>(options_.heads);
    std::vector<EagerRead> reads{{EagerRead::kPrevious, queries}};
    for (const int operand : {1, 2}) {
      reads.push_back({place.inputs.size() == 1 ? 0 : operand, positions * width});
    }
    return {eager::scaled({{{0, queries}}, queries}),
            eager::product({reads, queries}, {.kind = ProductClass::attention,
                                              .rows = static_cast<double>(place.shape.height()),
                                              .columns = positions,
                                              .depth = 2 * width / heads,
                                              .count = heads}),
            eager::movement(eager::previous(queries))};
  }

 private:
  // Where the device has both passes so: probabilities take a square of the sequence for each head.
  static bool keeps_statistics(Recorder& recorder, Attention spec) {
    if (recorder.on_host()) {
      return false;
    }
    spec.statistics = spec.training = true;
    spec.direction = Direction::forward;
    Attention backward = spec;
    backward.training = false;
    backward.direction = Direction::backward;
    return recorder.has(spec) && recorder.has(backward);
  }

  Attention spec(const Recorder& recorder) const {
    const TensorDesc& dst = recorder.dst();
    const bool packed = recorder.inputs() == 1;
    return {.batch = dst.n,
            .sequence = dst.h,
            .heads = options_.heads,
            .head_size = dst.c / options_.heads,
            .dtype = recorder.target().dtype,
            .causal = options_.causal,
            .scale = options_.scale,
            .packed = packed,
            .keys = packed ? 0 : recorder.src(1).h};
  }
};

const LayerRegistration<AttentionOptions, AttentionLayer> BENCH_REGISTERED{"attention"};

}  // namespace
}  // namespace bench::kernels
