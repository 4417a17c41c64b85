// Batch normalisation: by running statistics in inference, by the batch's own in training.
#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels {
namespace {

class BatchNormLayer final : public LikeItsInput<BatchNormLayer> {
 public:
  explicit BatchNormLayer(const BatchNormOptions& options) : options_(options) {}

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
    const TensorDesc& src = recorder.src();
    Arguments arguments{{Slot::src, recorder.input()}};
    if (recorder.training()) {
      // Of one value normalisation leaves 0, of two always −1 and 1, whatever they were.
      if (const std::int64_t values = src.n * src.h * src.w; values <= 2) {
        throw Unsupported(
            fmt::format("{} would normalise over {} values of each channel, which leaves no "
                        "gradient; training needs a larger batch or image",
                        recorder.name(), values));
      }
      for (const auto& [slot, what] : {std::pair{Slot::mean, "mean"}, {Slot::variance, "variance"}}) {
        arguments.emplace_back(slot, recorder.save(slot, what, 4 * src.c, Content::statistic));
      }
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(BatchNorm{.tensor = src, .training = recorder.training()}, arguments);
  }

  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    const TensorId scale = recorder.parameter_gradient(Slot::scale);
    const TensorId shift = recorder.parameter_gradient(Slot::shift);
    const TensorId made = recorder.input_gradient();
    recorder.record(BatchNorm{.tensor = recorder.src(), .direction = Direction::backward},
                    {{Slot::src, recorder.input()},
                     {Slot::mean, recorder.saved(Slot::mean).value()},
                     {Slot::variance, recorder.saved(Slot::variance).value()},
                     {Slot::diff_dst, diff},
                     {Slot::diff_src, made},
                     {Slot::diff_scale, scale},
                     {Slot::diff_shift, shift}},
                    {made, {diff}});
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
