// Batch normalisation, with ReLU fused into it, and its gradient by oneDNN.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels {
namespace {

using Flags = dnnl::normalization_flags;
using Forward = dnnl::batch_normalization_forward;
using Backward = dnnl::batch_normalization_backward;

std::string described(const BatchNorm& spec) {
  return fmt::format("batch norm {} {} {} c{}",
                     !spec.forward() ? "backward"
                     : spec.training ? "training"
                                     : "inference",
                     name_of(spec.tensor.dtype), name_of(spec.tensor.layout), spec.tensor.c);
}

class OnednnBatchNorm final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnBatchNorm(const BatchNorm& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
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
      const Forward::primitive_desc ahead(Forward::desc(kind, tensor, spec.epsilon, flags),
                                          onednn::attributes(), onednn::engine());
      const auto bind_statistics = [&](Role role) {
        bind_parameter(Slot::mean, role, DNNL_ARG_MEAN, channel, channel);
        bind_parameter(Slot::variance, role, DNNL_ARG_VARIANCE, channel, channel);
      };
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
      if (spec.forward()) {
        bind_parameter(Slot::scale, Role::parameter, DNNL_ARG_SCALE, channel, channel);
        bind_parameter(Slot::shift, Role::parameter, DNNL_ARG_SHIFT, channel, channel);
        bind_statistics(spec.training ? Role::output : Role::parameter);
        bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
        plan(ahead);
        // Where ReLU is fused into training oneDNN notes the elements that were cut.
        bind_scratch(DNNL_ARG_WORKSPACE, ahead.workspace_desc());
        return;
      }
      bind_statistics(Role::input);
      bind_parameter(Slot::scale, Role::parameter, DNNL_ARG_SCALE, channel, channel);
      // oneDNN 2.6 insists on a shift, though no gradient depends on it: any channel vector will do.
      bind_also(Slot::scale, DNNL_ARG_SHIFT, channel);
      bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
      bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
      bind_parameter(Slot::diff_scale, Role::output, DNNL_ARG_DIFF_SCALE, channel, channel);
      bind_parameter(Slot::diff_shift, Role::output, DNNL_ARG_DIFF_SHIFT, channel, channel);
      plan(Backward::primitive_desc(
          Backward::desc(dnnl::prop_kind::backward, tensor, tensor, spec.epsilon, flags),
          onednn::attributes(), onednn::engine(), ahead));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  BatchNorm spec_;
};

const Registration<Implementation<BatchNorm>> registered{cpu_implementation<BatchNorm, OnednnBatchNorm>(
    "onednn", 10, [](const BatchNorm& spec, const Device& device) -> std::optional<std::string> {
      if (spec.activation != Activation::none && spec.activation != Activation::relu) {
        return "batch norm fuses relu only, not relu6, leaky_relu or gelu";
      }
      if (!spec.forward() && spec.activation != Activation::none) {
        return "batch norm: the gradient of an activation is an operation of its own";
      }
      return device.unsupported(spec.tensor.dtype);
    })};

}  // namespace
}  // namespace bench::kernels
