// Repeating pixels, and its gradient, by oneDNN's nearest-neighbour resampling.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/upsample/upsample.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::resampling_forward;
using Backward = dnnl::resampling_backward;

std::string described(const Upsample& spec) {
  return fmt::format("upsample {} {} {} n{} c{} {}x{} by {}", spec.forward() ? "forward" : "backward",
                     name_of(spec.src.dtype), name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h,
                     spec.src.w, spec.factor);
}

class OnednnUpsample final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnUpsample(const Upsample& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      constexpr auto kNearest = dnnl::algorithm::resampling_nearest;
      const auto src = onednn::describe(spec.src);
      const auto dst = onednn::describe(spec.dst());
      const auto kind =
          spec.forward() ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
      const Forward::primitive_desc ahead(Forward::desc(kind, kNearest, src, dst), onednn::attributes(),
                                          onednn::engine());
      if (spec.forward()) {
        bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, src);
        bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), dst);
        plan(ahead);
        return;
      }
      bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.dst(), dst);
      bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.src, src);
      plan(Backward::primitive_desc(Backward::desc(kNearest, src, dst), onednn::attributes(),
                                    onednn::engine(), ahead));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  Upsample spec_;
};

const Registration<Implementation<Upsample>> registered{cpu_implementation<Upsample, OnednnUpsample>(
    "onednn", 10,
    [](const Upsample& spec, const Device& device) { return device.unsupported(spec.src.dtype); })};

}  // namespace
}  // namespace bench::kernels
