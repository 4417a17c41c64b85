// Pooling and its gradient by oneDNN.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/pool/pool.h"

namespace bench::kernels {
namespace {

std::string described(const Pool& spec) {
  return fmt::format("{} pooling{} {} {} n{} c{} {}x{} window {}x{}",
                     spec.kind == Pool::Kind::max ? "max" : "average",
                     !spec.forward() ? " backward"
                     : spec.training ? " training"
                                     : "",
                     name_of(spec.src.dtype), name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h,
                     spec.src.w, spec.kernel_h, spec.kernel_w);
}

void plan(const Pool& spec, onednn::PrimitiveOperation& made) {
  const auto algorithm = spec.kind == Pool::Kind::max ? dnnl::algorithm::pooling_max
                         : spec.count_padding         ? dnnl::algorithm::pooling_avg_include_padding
                                                      : dnnl::algorithm::pooling_avg_exclude_padding;
  // Only the padding that the windows reach: a stride may leave its last rows unread.
  const auto end = [](const WindowAxis& axis) {
    return (axis.out - 1) * axis.stride + axis.reach() - axis.in - axis.pad;
  };
  const auto src = onednn::describe(spec.src);
  const auto dst = onednn::describe(spec.dst());
  // In training a maximum has a workspace: which input was chosen. The backward pass is planned with it.
  const auto kind = spec.training || !spec.forward() ? dnnl::prop_kind::forward_training
                                                     : dnnl::prop_kind::forward_inference;
  const onednn::Pooling shape{.algorithm = algorithm,
                              .src = src,
                              .dst = dst,
                              .strides = {spec.stride_h, spec.stride_w},
                              .kernel = {spec.kernel_h, spec.kernel_w},
                              .dilation = {spec.dilation_h - 1, spec.dilation_w - 1},
                              .pad_begin = {spec.pad_h, spec.pad_w},
                              .pad_end = {end(spec.rows()), end(spec.columns())}};
  const auto ahead = onednn::pooling_forward(shape, kind, onednn::attributes());
  if (spec.forward()) {
    made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, src);
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), dst);
    made.bind_opaque(Slot::saved, Role::output, DNNL_ARG_WORKSPACE, ahead.workspace_desc());
    return made.plan(ahead);
  }
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.dst(), dst);
  made.bind_opaque(Slot::saved, Role::input, DNNL_ARG_WORKSPACE, ahead.workspace_desc());
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.src, src);
  made.plan(onednn::pooling_backward(shape, ahead, onednn::attributes()));
}

const Registration<Implementation<Pool>> BENCH_REGISTERED{
    onednn::primitive_implementation<Pool, described, plan>(
        [](const Pool& spec, const Device& device) -> std::optional<std::string> {
          if (spec.kind == Pool::Kind::adaptive) {
            return "oneDNN has no adaptive pooling";
          }
          if (spec.count_padding && spec.beyond_h + spec.beyond_w > 0) {
            return "oneDNN would count what lies behind the padding";
          }
          return device.unsupported(spec.src.dtype);
        })};

}  // namespace
}  // namespace bench::kernels
