// GELU and its gradient by oneDNN.
#include <fmt/format.h>

#include "kernels/gelu/gelu.h"
#include "kernels/onednn/primitive_operation.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::eltwise_forward;
using Backward = dnnl::eltwise_backward;

std::string described(const Gelu& spec) {
  return fmt::format("gelu{} {} {}", spec.direction == Gelu::Direction::forward ? "" : " backward",
                     name_of(spec.tensor.dtype), name_of(spec.tensor.layout));
}

class OnednnGelu final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnGelu(const Gelu& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      const bool forward = spec.direction == Gelu::Direction::forward;
      const auto algorithm = onednn::algorithm_of(Activation::gelu);
      const auto tensor = onednn::describe(spec.tensor);
      const auto kind = forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
      const Forward::primitive_desc ahead(Forward::desc(kind, algorithm, tensor, 0.0F, 0.0F),
                                          onednn::attributes(), onednn::engine());
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
      if (forward) {
        bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
        plan(ahead);
        return;
      }
      bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
      bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
      plan(Backward::primitive_desc(Backward::desc(algorithm, tensor, tensor, 0.0F, 0.0F),
                                    onednn::attributes(), onednn::engine(), ahead));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  Gelu spec_;
};

const Registration<Implementation<Gelu>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Gelu& spec,
                      const Device& device) { return device.unsupported(spec.tensor.dtype); },
    .make = [](const Gelu& spec, Device& /*device*/) { return std::make_unique<OnednnGelu>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
