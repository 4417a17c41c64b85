// Pooling by oneDNN.
#include <fmt/format.h>

#include "kernels/onednn/primitive_operation.h"
#include "kernels/pool/onednn_forward.h"
#include "kernels/pool/pool.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::pooling_forward;

class OnednnPool final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnPool(const Pool& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      const Forward::primitive_desc pd = onednn::plan_pool(spec, spec.training);
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, pd.src_desc());
      bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), pd.dst_desc());
      bind_opaque(Slot::saved, Role::output, DNNL_ARG_WORKSPACE, pd.workspace_desc());
      plan(pd);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const Pool& spec) {
    return fmt::format("{} pooling{} {} {} n{} c{} {}x{} window {}x{}",
                       spec.kind == Pool::Kind::max ? "max" : "average", spec.training ? " training" : "",
                       name_of(spec.src.dtype), name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h,
                       spec.src.w, spec.kernel_h, spec.kernel_w);
  }

  Pool spec_;
};

const Registration<Implementation<Pool>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Pool& spec, const Device& device) -> std::optional<std::string> {
      const auto wrong = spec.invalid();
      return wrong ? wrong : device.unsupported(spec.src.dtype);
    },
    .make = [](const Pool& spec, Device& /*device*/) { return std::make_unique<OnednnPool>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
