// Normalisation: of each channel over a batch (by running statistics in inference, by the batch's own in
// training), or of each row over its last dimension.
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/batch_norm/batch_norm.h"
#include "kernels/operations/layer_norm/layer_norm.h"

namespace bench::kernels {
namespace {

// Mean and variance, fp32[count] each, as a training pass writes them.
void save_statistics(Recorder& recorder, Arguments& arguments, std::int64_t count) {
  for (const auto& [slot, what] : {std::pair{Slot::mean, "mean"}, {Slot::variance, "variance"}}) {
    arguments.emplace_back(slot, recorder.save(slot, what, 4 * count, Content::statistic));
  }
}

template <class Spec>
void record_backward(Recorder& recorder, Spec spec, bool has_scale, bool has_shift) {
  spec.direction = Direction::backward;
  const TensorId diff = recorder.diff();
  Arguments parameters;
  if (has_scale) {
    parameters.emplace_back(Slot::diff_scale, recorder.parameter_gradient(Slot::scale));
  }
  if (has_shift) {
    parameters.emplace_back(Slot::diff_shift, recorder.parameter_gradient(Slot::shift));
  }
  const TensorId made = recorder.input_gradient();
  Arguments arguments{{Slot::src, recorder.input()},
                      {Slot::mean, recorder.saved(Slot::mean).value()},
                      {Slot::variance, recorder.saved(Slot::variance).value()},
                      {Slot::diff_dst, diff},
                      {Slot::diff_src, made}};
  arguments.insert(arguments.end(), parameters.begin(), parameters.end());
  recorder.record(spec, arguments, {made, {diff}});
}

class BatchNormLayer final : public LikeItsInput<BatchNormLayer, BatchNormOptions> {
 public:
  using LikeItsInput::LikeItsInput;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.rank() > 0 && !in[in.channel_dimension()].per_sample, name,
            "needs channels that do not depend on the batch", in);
    return in;
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    const std::int64_t channels = place.shape.channels();
    const auto one = [&](Slot slot, bool trained) {
      return LayerParameter{slot, channels, norm_start(slot, options_.gain), trained};
    };
    return {one(Slot::scale, true), one(Slot::shift, true), one(Slot::mean, false),
            one(Slot::variance, false)};
  }

  void forward(Recorder& recorder) const override {
    recorder.need_shape_order();
    const TensorDesc& src = recorder.src();
    Arguments arguments{{Slot::src, recorder.input()}};
    if (recorder.training()) {
      if (src.n * src.h * src.w < 2) {  // normalised, one value is 0, whatever it was
        throw Unsupported(
            fmt::format("{} would normalise over one value of each channel, which leaves no "
                        "gradient; training needs a larger batch or image",
                        recorder.name()));
      }
      save_statistics(recorder, arguments, src.c);
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    // No implementation of the CPU has both passes with an activation.
    const Activation behind =
        recorder.on_host() ? Activation::none : recorder.take_next_activation(TakesSlope::yes);
    recorder.record(BatchNorm{.tensor = src,
                              .training = recorder.training(),
                              .activation = behind,
                              .epsilon = options_.epsilon},
                    arguments);
  }
  void backward(Recorder& recorder) const override {
    record_backward(
        recorder,
        BatchNorm{
            .tensor = recorder.src(), .activation = recorder.taken_activation(), .epsilon = options_.epsilon},
        true, true);
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::batch_norm(place)}; }

  std::optional<Epilogue> epilogue(const LayerPlace& place) const override {
    return FoldedNorm{clone(), place, options_.epsilon};
  }
};

class LayerNormLayer final : public LikeItsInput<LayerNormLayer, LayerNormOptions> {
 public:
  using LikeItsInput::LikeItsInput;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs[0].is_rows(), name, "needs rows of features", inputs[0]);
    require(options_.scale || !options_.shift, name, "needs a scale where it has a shift");
    return inputs[0];
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    std::vector<LayerParameter> all;
    for (const auto& [slot, has] :
         {std::pair{Slot::scale, options_.scale}, std::pair{Slot::shift, options_.shift}}) {
      if (has) {
        all.push_back({.slot = slot, .count = place.shape.features(), .start = norm_start(slot)});
      }
    }
    return all;
  }

  void forward(Recorder& recorder) const override {
    recorder.need_shape_order();
    LayerNorm spec = this->spec(recorder);
    Arguments arguments{{Slot::src, recorder.input()}};
    if (recorder.training()) {
      spec.training = true;
      save_statistics(recorder, arguments, spec.rows);
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec, arguments);
  }
  void backward(Recorder& recorder) const override {
    record_backward(recorder, spec(recorder), options_.scale, options_.shift);
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::norm(place)}; }

 private:
  LayerNorm spec(const Recorder& recorder) const {
    const TensorDesc rows = recorder.rows();
    return {.rows = rows.n,
            .width = rows.c,
            .dtype = rows.dtype,
            .epsilon = options_.epsilon,
            .scale = options_.scale,
            .shift = options_.shift};
  }
};

const LayerRegistration<BatchNormOptions, BatchNormLayer> BENCH_REGISTERED{"batch_norm"};
const LayerRegistration<LayerNormOptions, LayerNormLayer> BENCH_REGISTERED{"layer_norm"};

}  // namespace
}  // namespace bench::kernels
