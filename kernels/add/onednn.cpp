// Element-wise addition by oneDNN, with the activation fused behind it.
#include <fmt/format.h>

#include "kernels/add/add.h"
#include "kernels/onednn/primitive_operation.h"

namespace bench::kernels {
namespace {

class OnednnAdd final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnAdd(const Add& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      const auto tensor = onednn::describe(spec.tensor);
      dnnl::post_ops post_ops;
      onednn::append(post_ops, spec.activation);
      const dnnl::binary::primitive_desc pd(
          dnnl::binary::desc(dnnl::algorithm::binary_add, tensor, tensor, tensor),
          onednn::attributes(post_ops), onednn::engine());
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC_0, spec.tensor, tensor);
      bind_activation(Slot::src1, Role::input, DNNL_ARG_SRC_1, spec.tensor, tensor);
      bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
      plan(pd);
    });
  }

  bool in_place_sum() const override { return true; }
  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const Add& spec) {
    return fmt::format("add {} {}", name_of(spec.tensor.dtype), name_of(spec.tensor.layout));
  }

  Add spec_;
};

const Registration<Implementation<Add>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Add& spec,
                      const Device& device) { return device.unsupported(spec.tensor.dtype); },
    .make = [](const Add& spec, Device& /*device*/) { return std::make_unique<OnednnAdd>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
