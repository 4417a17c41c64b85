// Batch normalisation, with ReLU fused into it, and its gradient by oneDNN.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels {
namespace {

std::string described(const BatchNorm& spec) {
  return fmt::format("batch norm {} {} {} c{}",
                     !spec.forward() ? "backward"
                     : spec.training ? "training"
                                     : "inference",
                     name_of(spec.tensor.dtype), name_of(spec.tensor.layout), spec.tensor.c);
}

void plan(const BatchNorm& spec, onednn::PrimitiveOperation& made) {
  using Flags = dnnl::normalization_flags;
  Flags flags = Flags::use_scale | Flags::use_shift;
  if (spec.forward() && !spec.training) {
    flags |= Flags::use_global_stats;
  }
  if (spec.activation == Activation::relu) {
    flags |= Flags::fuse_norm_relu;
  }
  const auto tensor = onednn::describe(spec.tensor);
  const auto channel = onednn::describe_vector(spec.tensor.c);
  const auto kind = spec.training || !spec.forward() ? dnnl::prop_kind::forward_training
                                                     : dnnl::prop_kind::forward_inference;
  const onednn::Normalization norm{.tensor = tensor, .epsilon = spec.epsilon, .flags = flags};
  const auto ahead = onednn::batch_normalization_forward(norm, kind, onednn::attributes());
  const Role statistics = !spec.forward() ? Role::input : spec.training ? Role::output : Role::parameter;
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
  made.bind_parameter(Slot::scale, Role::parameter, DNNL_ARG_SCALE, channel, channel);
  if (spec.forward()) {
    made.bind_parameter(Slot::shift, Role::parameter, DNNL_ARG_SHIFT, channel, channel);
  } else if (onednn::faults().batch_norm_gradient_reads_shift) {
    made.bind_also(Slot::scale, DNNL_ARG_SHIFT, channel);  // any vector of the channels will do
  }
  made.bind_parameter(Slot::mean, statistics, DNNL_ARG_MEAN, channel, channel);
  made.bind_parameter(Slot::variance, statistics, DNNL_ARG_VARIANCE, channel, channel);
  if (spec.forward()) {
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
    made.plan(ahead);
    // Where ReLU is fused into training oneDNN notes the elements that were cut.
    return made.bind_scratch(DNNL_ARG_WORKSPACE, ahead.workspace_desc());
  }
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
  made.bind_parameter(Slot::diff_scale, Role::output, DNNL_ARG_DIFF_SCALE, channel, channel);
  made.bind_parameter(Slot::diff_shift, Role::output, DNNL_ARG_DIFF_SHIFT, channel, channel);
  made.plan(
      onednn::batch_normalization_backward(norm, dnnl::prop_kind::backward, ahead, onednn::attributes()));
}

const Registration<Implementation<BatchNorm>> BENCH_REGISTERED{
    onednn::primitive_implementation<BatchNorm, described, plan>(
        [](const BatchNorm& spec, const Device& device) -> std::optional<std::string> {
          if (spec.activation != Activation::none && spec.activation != Activation::relu) {
            return "batch norm fuses relu only";
          }
          if (!spec.forward() && spec.activation != Activation::none) {
            return "batch norm: the gradient of an activation is an operation of its own";
          }
          return device.unsupported(spec.tensor.dtype);
        })};

}  // namespace
}  // namespace bench::kernels
