// Batch normalisation: by running statistics in inference, by the batch's own in training.
#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/layers/norm.h"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels {
namespace {

class BatchNormLayer final : public LikeItsInput<BatchNormLayer> {
 public:
  explicit BatchNormLayer(const BatchNormOptions& options) : options_(options) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.rank() > 0 && !in[in.channel_dimension()].per_sample, name,
            "needs channels that do not depend on the batch", in);
    return in;
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    const std::int64_t channels = place.shape.channels();
    return {{.slot = Slot::scale, .count = channels},
            {.slot = Slot::shift, .count = channels},
            {.slot = Slot::mean, .count = channels, .trained = false},
            {.slot = Slot::variance, .count = channels, .trained = false}};
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    init_norm({place.name, options_.gain}, slot, seed, from, values);
  }

  void forward(Recorder& recorder) const override {
    recorder.need_shape_order();
    const TensorDesc& src = recorder.src();
    Arguments arguments{{Slot::src, recorder.input()}};
    if (recorder.training()) {
      // Normalising one value gives 0, two always −1 and 1, whatever they were.
      if (const std::int64_t values = src.n * src.h * src.w; values <= 2) {
        throw Unsupported(
            fmt::format("{} would normalise over {} values of each channel, which leaves no "
                        "gradient; training needs a larger batch or image",
                        recorder.name(), values));
      }
      save_statistics(recorder, arguments, src.c);
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    // No implementation of the CPU has both passes with an activation.
    const Activation behind =
        recorder.on_host() ? Activation::none : recorder.take_next_activation(TakesSlope::yes);
    recorder.record(BatchNorm{.tensor = src, .training = recorder.training(), .activation = behind},
                    arguments);
  }

  void backward(Recorder& recorder) const override {
    record_norm_backward(recorder,
                         BatchNorm{.tensor = recorder.src(), .activation = recorder.taken_activation()});
  }

  std::optional<Epilogue> epilogue(const std::string& name) const override {
    return FoldedNorm{name, options_.gain};
  }

 private:
  BatchNormOptions options_;
};

const LayerRegistration<BatchNormOptions, BatchNormLayer> registered{"batch_norm"};

}  // namespace
}  // namespace bench::kernels
