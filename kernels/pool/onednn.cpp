// Pooling by oneDNN.
#include <fmt/format.h>

#include "kernels/onednn/primitive_operation.h"
#include "kernels/pool/pool.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::pooling_forward;

class OnednnPool final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnPool(const Pool& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      const auto algorithm = spec.kind == Pool::Kind::max ? dnnl::algorithm::pooling_max
                                                          : dnnl::algorithm::pooling_avg_exclude_padding;
      // The end padding is what the windows reach: a stride may leave the last rows of padding unread.
      const Forward::primitive_desc pd(
          Forward::desc(dnnl::prop_kind::forward_inference, algorithm, onednn::describe(spec.src),
                        onednn::describe(spec.dst()), {spec.stride_h, spec.stride_w},
                        {spec.kernel_h, spec.kernel_w}, {spec.pad_h, spec.pad_w},
                        {(spec.out_height() - 1) * spec.stride_h + spec.kernel_h - spec.src.h - spec.pad_h,
                         (spec.out_width() - 1) * spec.stride_w + spec.kernel_w - spec.src.w - spec.pad_w}),
          onednn::attributes(), onednn::engine());
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, pd.src_desc());
      bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), pd.dst_desc());
      plan(pd);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  static std::string described(const Pool& spec) {
    return fmt::format("{} pooling {} {} n{} c{} {}x{} window {}x{}",
                       spec.kind == Pool::Kind::max ? "max" : "average", name_of(spec.src.dtype),
                       name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h, spec.src.w,
                       spec.kernel_h, spec.kernel_w);
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
