// Gradient of batch normalisation by oneDNN.
#include <fmt/format.h>

#include "kernels/batch_norm/batch_norm_backward.h"
#include "kernels/onednn/primitive_operation.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::batch_normalization_forward;
using Backward = dnnl::batch_normalization_backward;

class OnednnBatchNormBackward final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnBatchNormBackward(const BatchNormBackward& spec)
      : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
      const auto tensor = onednn::describe(spec.tensor);
      const Forward::primitive_desc hint(
          Forward::desc(dnnl::prop_kind::forward_training, tensor, spec.epsilon, flags), onednn::attributes(),
          onednn::engine());
      const Backward::primitive_desc pd(
          Backward::desc(dnnl::prop_kind::backward, tensor, tensor, spec.epsilon, flags),
          onednn::attributes(), onednn::engine(), hint);
      const auto channel = onednn::describe_vector(spec.tensor.c);
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
      bind_parameter(Slot::mean, Role::input, DNNL_ARG_MEAN, channel, channel);
      bind_parameter(Slot::variance, Role::input, DNNL_ARG_VARIANCE, channel, channel);
      bind_parameter(Slot::scale, Role::parameter, DNNL_ARG_SCALE, channel, channel);
      // oneDNN 2.6 insists on a shift, though no gradient depends on it: any channel vector will do.
      bind_also(Slot::scale, DNNL_ARG_SHIFT, channel);
      bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
      bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
      bind_parameter(Slot::diff_scale, Role::output, DNNL_ARG_DIFF_SCALE, channel, channel);
      bind_parameter(Slot::diff_shift, Role::output, DNNL_ARG_DIFF_SHIFT, channel, channel);
      plan(pd);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const BatchNormBackward& spec) {
    return fmt::format("batch norm backward {} {} c{}", name_of(spec.tensor.dtype),
                       name_of(spec.tensor.layout), spec.tensor.c);
  }

  BatchNormBackward spec_;
};

const Registration<Implementation<BatchNormBackward>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const BatchNormBackward& spec, const Device& device) -> std::optional<std::string> {
      return device.unsupported(spec.tensor.dtype);
    },
    .make = [](const BatchNormBackward& spec,
               Device& /*device*/) { return std::make_unique<OnednnBatchNormBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
