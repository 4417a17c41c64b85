// Batch normalisation by oneDNN, with ReLU fused into it.
#include <fmt/format.h>

#include "kernels/batch_norm/batch_norm.h"
#include "kernels/onednn/primitive_operation.h"

namespace bench::kernels {
namespace {

using Flags = dnnl::normalization_flags;
using Forward = dnnl::batch_normalization_forward;

class OnednnBatchNorm final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnBatchNorm(const BatchNorm& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      Flags flags = Flags::use_scale | Flags::use_shift;
      if (!spec.training) {
        flags |= Flags::use_global_stats;
      }
      if (spec.activation == Activation::relu) {
        flags |= Flags::fuse_norm_relu;
      }
      const auto tensor = onednn::describe(spec.tensor);
      const auto kind =
          spec.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
      const Forward::primitive_desc pd(Forward::desc(kind, tensor, spec.epsilon, flags), onednn::attributes(),
                                       onednn::engine());
      const auto channel = onednn::describe_vector(spec.tensor.c);
      const Role statistic = spec.training ? Role::output : Role::parameter;
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
      bind_parameter(Slot::scale, Role::parameter, DNNL_ARG_SCALE, channel, channel);
      bind_parameter(Slot::shift, Role::parameter, DNNL_ARG_SHIFT, channel, channel);
      bind_parameter(Slot::mean, statistic, DNNL_ARG_MEAN, channel, channel);
      bind_parameter(Slot::variance, statistic, DNNL_ARG_VARIANCE, channel, channel);
      bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
      plan(pd);
      // Where ReLU is fused into training oneDNN notes the elements that were cut.
      bind_scratch(DNNL_ARG_WORKSPACE, pd.workspace_desc());
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const BatchNorm& spec) {
    return fmt::format("batch norm {} {} {} c{}", spec.training ? "training" : "inference",
                       name_of(spec.tensor.dtype), name_of(spec.tensor.layout), spec.tensor.c);
  }

  BatchNorm spec_;
};

const Registration<Implementation<BatchNorm>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const BatchNorm& spec, const Device& device) -> std::optional<std::string> {
      if (spec.activation != Activation::none && spec.activation != Activation::relu) {
        return "batch norm fuses relu only, not relu6, leaky_relu or gelu";
      }
      return device.unsupported(spec.tensor.dtype);
    },
    .make = [](const BatchNorm& spec, Device& /*device*/) { return std::make_unique<OnednnBatchNorm>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
