// Repeating pixels, and its gradient, by oneDNN's nearest-neighbour resampling.
#include <fmt/format.h>

#include "kernels/onednn/primitive_operation.h"
#include "kernels/upsample/upsample_backward.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::resampling_forward;
using Backward = dnnl::resampling_backward;

constexpr auto kNearest = dnnl::algorithm::resampling_nearest;

std::string described(const Upsample& spec, const char* direction) {
  return fmt::format("upsample {} {} {} n{} c{} {}x{} by {}", direction, name_of(spec.src.dtype),
                     name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h, spec.src.w, spec.factor);
}

Forward::primitive_desc plan_forward(const Upsample& spec, dnnl::prop_kind kind) {
  return {Forward::desc(kind, kNearest, onednn::describe(spec.src), onednn::describe(spec.dst())),
          onednn::attributes(), onednn::engine()};
}

class OnednnUpsample final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnUpsample(const Upsample& spec) : PrimitiveOperation(described(spec, "forward")) {
    onednn::translated(described(spec, "forward"), [&] {
      const Forward::primitive_desc pd = plan_forward(spec, dnnl::prop_kind::forward_inference);
      bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, pd.src_desc());
      bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), pd.dst_desc());
      plan(pd);
    });
  }

  double flops() const override { return 0; }
};

class OnednnUpsampleBackward final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnUpsampleBackward(const UpsampleBackward& spec)
      : PrimitiveOperation(described(spec.forward, "backward")), spec_(spec) {
    const Upsample& forward = spec.forward;
    onednn::translated(described(forward, "backward"), [&] {
      const auto diff_src = onednn::describe(forward.src);
      const auto diff_dst = onednn::describe(forward.dst());
      const Backward::primitive_desc pd(Backward::desc(kNearest, diff_src, diff_dst), onednn::attributes(),
                                        onednn::engine(),
                                        plan_forward(forward, dnnl::prop_kind::forward_training));
      bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, forward.dst(), diff_dst);
      bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, forward.src, diff_src);
      plan(pd);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  UpsampleBackward spec_;
};

const Registration<Implementation<Upsample>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Upsample& spec, const Device& device) -> std::optional<std::string> {
      const auto wrong = spec.invalid();
      return wrong ? wrong : device.unsupported(spec.src.dtype);
    },
    .make = [](const Upsample& spec, Device& /*device*/) { return std::make_unique<OnednnUpsample>(spec); },
}};

const Registration<Implementation<UpsampleBackward>> registered_backward{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const UpsampleBackward& spec, const Device& device) -> std::optional<std::string> {
      const auto wrong = spec.forward.invalid();
      return wrong ? wrong : device.unsupported(spec.forward.src.dtype);
    },
    .make = [](const UpsampleBackward& spec,
               Device& /*device*/) { return std::make_unique<OnednnUpsampleBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
