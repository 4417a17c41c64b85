// Gradient of ReLU, ReLU6 and leaky ReLU by oneDNN, from the forward pass's result.
#include <fmt/format.h>

#include "kernels/onednn/primitive_operation.h"
#include "kernels/relu/relu_backward.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::eltwise_forward;
using Backward = dnnl::eltwise_backward;

class OnednnReluBackward final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnReluBackward(const ReluBackward& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      const bool six = spec.activation == Activation::relu6;
      // clip_v2 lets gradients through strictly between its bounds; clip and bounded_relu, which work from
      // src, also at the upper one. A result of 6 does not tell whether src was 6 or above.
      const auto algorithm = six ? dnnl::algorithm::eltwise_clip_v2_use_dst_for_bwd
                                 : dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
      // the lower bound; relu's slope below zero
      const float alpha = six ? 0.0F : onednn::alpha_of(spec.activation);
      const float beta = six ? 6.0F : 0.0F;
      const auto tensor = onednn::describe(spec.tensor);
      const Forward::primitive_desc hint(
          Forward::desc(dnnl::prop_kind::forward_training, algorithm, tensor, alpha, beta),
          onednn::attributes(), onednn::engine());
      const Backward::primitive_desc pd(Backward::desc(algorithm, tensor, tensor, alpha, beta),
                                        onednn::attributes(), onednn::engine(), hint);
      bind_activation(Slot::dst, Role::input, DNNL_ARG_DST, spec.tensor, tensor);
      bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
      bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
      plan(pd);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const ReluBackward& spec) {
    return fmt::format("relu backward {} {}", name_of(spec.tensor.dtype), name_of(spec.tensor.layout));
  }

  ReluBackward spec_;
};

const Registration<Implementation<ReluBackward>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const ReluBackward& spec, const Device& device) -> std::optional<std::string> {
      if (spec.activation == Activation::none || spec.activation == Activation::gelu) {
        return "relu: the activation must be relu, relu6 or leaky_relu";
      }
      if (spec.summed) {
        return "oneDNN takes a gradient in one part";
      }
      return device.unsupported(spec.tensor.dtype);
    },
    .make = [](const ReluBackward& spec,
               Device& /*device*/) { return std::make_unique<OnednnReluBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
