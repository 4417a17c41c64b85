// Repeating pixels, and its gradient, by oneDNN's nearest-neighbour resampling.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/resize/resize.h"

namespace bench::kernels {
namespace {

std::string described(const Resize& spec) {
  return fmt::format("resize {} {} {} n{} c{} {}x{} by {}", spec.forward() ? "forward" : "backward",
                     name_of(spec.src.dtype), name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h,
                     spec.src.w, *spec.factor());
}

void plan(const Resize& spec, onednn::PrimitiveOperation& made) {
  constexpr auto kNearest = dnnl::algorithm::resampling_nearest;
  const auto src = onednn::describe(spec.src);
  const auto dst = onednn::describe(spec.dst());
  const auto kind = spec.forward() ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const auto ahead = onednn::resampling_forward(kind, kNearest, src, dst, onednn::attributes());
  if (spec.forward()) {
    made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, src);
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), dst);
    return made.plan(ahead);
  }
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.dst(), dst);
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.src, src);
  made.plan(onednn::resampling_backward(kNearest, src, dst, ahead, onednn::attributes()));
}

const Registration<Implementation<Resize>> BENCH_REGISTERED{
    onednn::primitive_implementation<Resize, described, plan>(
        [](const Resize& spec, const Device& device) -> std::optional<std::string> {
          return spec.factor() ? device.unsupported(spec.src.dtype)
                               : std::optional<std::string>("resize: its pixels are not only repeated");
        })};

}  // namespace
}  // namespace bench::kernels
