// Gradient of pooling by oneDNN.
#include <fmt/format.h>

#include "kernels/onednn/primitive_operation.h"
#include "kernels/pool/onednn_forward.h"
#include "kernels/pool/pool_backward.h"

namespace bench::kernels {
namespace {

using Backward = dnnl::pooling_backward;

class OnednnPoolBackward final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnPoolBackward(const PoolBackward& spec)
      : PrimitiveOperation(described(spec.forward)), spec_(spec) {
    const Pool& forward = spec.forward;
    onednn::translated(described(forward), [&] {
      const onednn::PoolGeometry g = onednn::pool_geometry(forward);
      const Backward::primitive_desc pd(
          Backward::desc(onednn::algorithm_of(forward.kind), onednn::describe(forward.src),
                         onednn::describe(forward.dst()), g.strides, g.kernel, g.pad_begin, g.pad_end),
          onednn::attributes(), onednn::engine(), onednn::plan_pool(forward, true));
      bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, forward.dst(), pd.diff_dst_desc());
      bind_opaque(Slot::saved, Role::input, DNNL_ARG_WORKSPACE, pd.workspace_desc());
      bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, forward.src, pd.diff_src_desc());
      plan(pd);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const Pool& spec) {
    return fmt::format("{} pooling backward {} {} n{} c{} {}x{} window {}x{}",
                       spec.kind == Pool::Kind::max ? "max" : "average", name_of(spec.src.dtype),
                       name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h, spec.src.w,
                       spec.kernel_h, spec.kernel_w);
  }

  PoolBackward spec_;
};

const Registration<Implementation<PoolBackward>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const PoolBackward& spec, const Device& device) -> std::optional<std::string> {
      const auto wrong = spec.forward.invalid();
      return wrong ? wrong : device.unsupported(spec.forward.src.dtype);
    },
    .make = [](const PoolBackward& spec,
               Device& /*device*/) { return std::make_unique<OnednnPoolBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
