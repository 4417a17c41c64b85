// Layer normalisation and its gradient by oneDNN.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/layer_norm/layer_norm.h"

namespace bench::kernels {
namespace {

std::string described(const LayerNorm& spec) {
  return fmt::format("layer norm {} {} {}x{}",
                     !spec.forward() ? "backward"
                     : spec.training ? "training"
                                     : "inference",
                     name_of(spec.dtype), spec.rows, spec.width);
}

void plan(const LayerNorm& spec, onednn::PrimitiveOperation& made) {
  using Flags = dnnl::normalization_flags;
  const Flags flags =
      (spec.scale ? Flags::use_scale : Flags::none) | (spec.shift ? Flags::use_shift : Flags::none);
  const auto tensor = onednn::describe_matrix(spec.tensor());
  const auto feature = onednn::describe_vector(spec.width);
  const auto statistic = onednn::describe_vector(spec.rows);
  const bool has_statistics = spec.training || !spec.forward();
  const auto kind = has_statistics ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const onednn::Normalization norm{.tensor = tensor, .epsilon = spec.epsilon, .flags = flags};
  const auto ahead = onednn::layer_normalization_forward(norm, statistic, kind, onednn::attributes());
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor(), tensor);
  if (spec.scale) {
    made.bind_parameter(Slot::scale, Role::parameter, DNNL_ARG_SCALE, feature, feature);
  }
  if (has_statistics) {
    const Role role = spec.saves() ? Role::output : Role::input;
    made.bind_parameter(Slot::mean, role, DNNL_ARG_MEAN, statistic, statistic);
    made.bind_parameter(Slot::variance, role, DNNL_ARG_VARIANCE, statistic, statistic);
  }
  if (spec.forward()) {
    if (spec.shift) {
      made.bind_parameter(Slot::shift, Role::parameter, DNNL_ARG_SHIFT, feature, feature);
    }
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor(), tensor);
    return made.plan(ahead);
  }
  if (spec.shift && onednn::faults().layer_norm_gradient_reads_shift) {
    made.bind_also(Slot::scale, DNNL_ARG_SHIFT, feature);
  }
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor(), tensor);
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor(), tensor);
  if (spec.scale) {
    made.bind_parameter(Slot::diff_scale, Role::output, DNNL_ARG_DIFF_SCALE, feature, feature);
  }
  if (spec.shift) {
    made.bind_parameter(Slot::diff_shift, Role::output, DNNL_ARG_DIFF_SHIFT, feature, feature);
  }
  const auto gradients = spec.scale ? dnnl::prop_kind::backward : dnnl::prop_kind::backward_data;
  made.plan(onednn::layer_normalization_backward(norm, statistic, gradients, ahead, onednn::attributes()));
}

const Registration<Implementation<LayerNorm>> BENCH_REGISTERED{
    onednn::primitive_implementation<LayerNorm, described, plan>(
        [](const LayerNorm& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
