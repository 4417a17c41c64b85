// Normalisation of maps over groups of channels of each sample; with a group for each channel instance
// normalisation.
#include "kernels/operations/group_norm/group_norm.h"

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

class GroupNormLayer final : public LayerOf<GroupNormLayer, GroupNormOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.is_maps(), name, "needs maps", in);
    require(options_.groups == 0 || (options_.groups > 0 && in.channels() % options_.groups == 0), name,
            "groups do not divide the channels", in);
    return in;
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    if (!options_.affine) {
      return {};
    }
    const std::int64_t channels = place.shape.channels();
    return {{.slot = Slot::scale, .count = channels, .start = norm_start(Slot::scale)},
            {.slot = Slot::shift, .count = channels, .start = norm_start(Slot::shift)}};
  }

  void forward(Recorder& recorder) const override {
    GroupNorm spec = this->spec(recorder);
    Arguments arguments{{Slot::src, recorder.input()}};
    if (recorder.training()) {
      spec.training = true;
      const std::int64_t bytes = 4 * spec.tensor.n * spec.groups;
      arguments.emplace_back(Slot::mean, recorder.save(Slot::mean, "mean", bytes, Content::statistic));
      arguments.emplace_back(Slot::variance,
                             recorder.save(Slot::variance, "variance", bytes, Content::statistic));
    }
    arguments.emplace_back(Slot::dst, recorder.result());
    recorder.record(spec, arguments);
  }

  void backward(Recorder& recorder) const override {
    GroupNorm spec = this->spec(recorder);
    spec.direction = Direction::backward;
    const TensorId diff = recorder.diff();
    Arguments arguments{{Slot::src, recorder.input()},
                        {Slot::mean, recorder.saved(Slot::mean).value()},
                        {Slot::variance, recorder.saved(Slot::variance).value()},
                        {Slot::diff_dst, diff}};
    if (spec.affine) {
      arguments.emplace_back(Slot::diff_scale, recorder.parameter_gradient(Slot::scale));
      arguments.emplace_back(Slot::diff_shift, recorder.parameter_gradient(Slot::shift));
    }
    const TensorId made = recorder.input_gradient();
    arguments.emplace_back(Slot::diff_src, made);
    recorder.record(spec, arguments, {made, {diff}});
  }

  EagerOperations eager(const LayerPlace& place) const override { return {eager::norm(place)}; }

 private:
  GroupNorm spec(const Recorder& recorder) const {
    const TensorDesc src = recorder.src();
    return {.tensor = src,
            .groups = options_.groups == 0 ? src.c : options_.groups,
            .affine = options_.affine,
            .epsilon = options_.epsilon};
  }
};

const LayerRegistration<GroupNormOptions, GroupNormLayer> BENCH_REGISTERED{"group_norm"};

}  // namespace
}  // namespace bench::kernels
