// Causal attention over a sequence of queries, keys and values.
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
    require(result.is_sequence() && options_.heads > 0 && result.channels() % (3 * options_.heads) == 0, name,
            "needs queries, keys and values of its heads", result);
    result[2].size /= 3;
    return result;
  }
  // The two products; those with masked positions counted.
  std::int64_t macs(const LayerPlace& place) const override {
    return 2 * place.shape.height() * place.shape.elements();
  }

  void forward(Recorder& recorder) const override {
    Attention spec = this->spec(recorder);
    Arguments arguments{{Slot::src, recorder.input()}};
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
    Arguments arguments{{Slot::src, recorder.input()}, {Slot::saved, recorder.saved(Slot::saved).value()}};
    if (spec.statistics) {
      arguments.emplace_back(Slot::dst, recorder.output());
    }
    arguments.emplace_back(Slot::diff_dst, diff);
    arguments.emplace_back(Slot::diff_src, recorder.input_gradient());
    recorder.record(spec, arguments);
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
    return {.batch = dst.n,
            .sequence = dst.h,
            .heads = options_.heads,
            .head_size = dst.c / options_.heads,
            .dtype = recorder.target().dtype};
  }
};

const LayerRegistration<AttentionOptions, AttentionLayer> registered{"attention"};

}  // namespace
}  // namespace bench::kernels
