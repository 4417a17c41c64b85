// Convolution by oneDNN, with bias, residual and activation fused behind it.
#include <array>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "kernels/conv2d/conv2d.h"
#include "kernels/conv2d/onednn_forward.h"
#include "kernels/onednn/primitive_operation.h"
#include "kernels/onednn/remembered.h"

namespace bench::kernels {
namespace {

using onednn::any_weights;
using onednn::describe;
using onednn::describe_vector;
using onednn::Geometry;
using onednn::geometry;
using onednn::plain_weights;
using MemoryDesc = dnnl::memory::desc;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

std::string described(const Conv2d& spec) {
  constexpr std::array kDirections{"forward", "backward-data", "backward-weights"};
  return fmt::format("conv2d {} {} n{} c{} {}x{} k{} {}x{} groups {} {}->{}",
                     kDirections[static_cast<std::size_t>(spec.direction)], name_of(spec.dtype), spec.batch,
                     spec.in_channels, spec.height, spec.width, spec.out_channels, spec.kernel_h,
                     spec.kernel_w, spec.groups, name_of(spec.src_layout), name_of(spec.dst_layout));
}

class OnednnConv2d final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnConv2d(const Conv2d& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      switch (spec.direction) {
        case Conv2d::Direction::forward:
          return forward();
        case Conv2d::Direction::backward_data:
          return backward_data();
        case Conv2d::Direction::backward_weights:
          return backward_weights();
      }
    });
  }

  // The end of planning.
  void prepare() override {
    onednn::forget_answers();
    PrimitiveOperation::prepare();
  }

  void run(const SlotPointers& pointers) override {
    // The sum post-op adds onto what is in dst.
    if (spec_.residual && pointers[Slot::dst] != pointers[Slot::src1]) {
      std::memcpy(pointers[Slot::dst], pointers[Slot::src1], static_cast<std::size_t>(spec_.dst().bytes()));
    }
    PrimitiveOperation::run(pointers);
  }

  bool in_place_sum() const override { return spec_.residual; }
  double flops() const override { return flops_; }

 private:
  void forward() {
    const onednn::ForwardPlan chosen = spec_.training ? plan_training() : onednn::plan_forward(spec_);
    const Forward::primitive_desc& pd = chosen.descriptor;
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), pd.src_desc());
    bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, pd.weights_desc(), plain_weights(spec_));
    if (spec_.bias) {
      bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, pd.bias_desc(), pd.bias_desc());
    }
    if (spec_.residual) {
      declare(Slot::src1, Role::input, spec_.dst());
    }
    bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec_.dst(), pd.dst_desc());
    plan(pd, chosen.parts);
    flops_ = chosen.flops;
  }

  void backward_data() {
    const Forward::primitive_desc hint = onednn::direct_training(spec_);
    const Geometry g = geometry(spec_);
    const auto pd = with_cheapest<BackwardData::primitive_desc>([&](dnnl::algorithm algorithm) {
      const BackwardData::desc desc(algorithm, describe(spec_.src()), any_weights(spec_),
                                    describe(spec_.dst()), g.strides, g.dilates, g.pad_begin, g.pad_end);
      return BackwardData::primitive_desc(desc, onednn::attributes(), onednn::engine(), hint, true);
    });
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), pd.diff_dst_desc());
    bind_converted_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS,
                             spec_.training ? hint.weights_desc() : pd.weights_desc(), pd.weights_desc(),
                             plain_weights(spec_));
    bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec_.src(), pd.diff_src_desc());
    plan(pd);
  }

  void backward_weights() {
    const Forward::primitive_desc hint = onednn::direct_training(spec_);
    const Geometry g = geometry(spec_);
    const MemoryDesc src = describe(spec_.src());
    const MemoryDesc dst = describe(spec_.dst());
    const MemoryDesc bias = describe_vector(spec_.out_channels);
    const auto pd = with_cheapest<BackwardWeights::primitive_desc>([&](dnnl::algorithm algorithm) {
      const auto desc = spec_.bias ? BackwardWeights::desc(algorithm, src, any_weights(spec_), bias, dst,
                                                           g.strides, g.dilates, g.pad_begin, g.pad_end)
                                   : BackwardWeights::desc(algorithm, src, any_weights(spec_), dst, g.strides,
                                                           g.dilates, g.pad_begin, g.pad_end);
      return BackwardWeights::primitive_desc(desc, onednn::attributes(), onednn::engine(), hint, true);
    });
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), pd.src_desc());
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), pd.diff_dst_desc());
    bind_converted_parameter(Slot::diff_weights, Role::output, DNNL_ARG_DIFF_WEIGHTS,
                             spec_.training ? hint.weights_desc() : pd.diff_weights_desc(),
                             pd.diff_weights_desc(), plain_weights(spec_));
    if (spec_.bias) {
      bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc(),
                     pd.diff_bias_desc());
    }
    plan(pd);
  }

  onednn::ForwardPlan plan_training() {
    Forward::primitive_desc shared = onednn::direct_training(spec_);
    const auto pd = with_cheapest<Forward::primitive_desc>([&](dnnl::algorithm algorithm) {
      if (algorithm == dnnl::algorithm::convolution_direct) {
        return shared;
      }
      const Forward::primitive_desc made = onednn::training_forward(spec_, algorithm);
      return made.get(true) != nullptr && made.weights_desc() == shared.weights_desc()
                 ? made
                 : Forward::primitive_desc();
    });
    return {.descriptor = pd, .flops = flops_};
  }

  // Winograd where it pays, oneDNN has it and its scratch is granted; else direct. `make` returns an empty
  // descriptor where oneDNN has nothing.
  template <class Descriptor, class Make>
  Descriptor with_cheapest(const Make& make) {
    const std::optional<double> fewer = onednn::winograd_flops_in_training(spec_);
    if (spec_.extra.scratch > 0 && fewer) {
      Descriptor winograd = make(dnnl::algorithm::convolution_winograd);
      if (winograd.get(true) != nullptr && onednn::fits_scratch(spec_, winograd)) {
        flops_ = *fewer;
        return winograd;
      }
    }
    return make(dnnl::algorithm::convolution_direct);
  }

  Conv2d spec_;
  double flops_ = 2.0 * static_cast<double>(spec_.macs());
};

const Registration<Implementation<Conv2d>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Conv2d& spec, const Device& device) -> std::optional<std::string> {
      const auto wrong = spec.invalid();
      return wrong ? wrong : device.unsupported(spec.dtype);
    },
    .make = [](const Conv2d& spec, Device& /*device*/) { return std::make_unique<OnednnConv2d>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
