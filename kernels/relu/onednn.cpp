// ReLU, ReLU6 and leaky ReLU by oneDNN.
#include <fmt/format.h>

#include "kernels/onednn/primitive_operation.h"
#include "kernels/relu/relu.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::eltwise_forward;

class OnednnRelu final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnRelu(const Relu& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      const Forward::primitive_desc pd(
          Forward::desc(dnnl::prop_kind::forward_inference, onednn::algorithm_of(spec.activation),
                        onednn::describe(spec.tensor), onednn::alpha_of(spec.activation), 0.0F),
          onednn::attributes(), onednn::engine());
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, pd.src_desc());
      bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, pd.dst_desc());
      plan(pd);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const Relu& spec) {
    return fmt::format("relu {} {}", name_of(spec.tensor.dtype), name_of(spec.tensor.layout));
  }

  Relu spec_;
};

const Registration<Implementation<Relu>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Relu& spec, const Device& device) -> std::optional<std::string> {
      if (spec.activation == Activation::none || spec.activation == Activation::gelu) {
        return "relu: the activation must be relu, relu6 or leaky_relu";
      }
      return device.unsupported(spec.tensor.dtype);
    },
    .make = [](const Relu& spec, Device& /*device*/) { return std::make_unique<OnednnRelu>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
