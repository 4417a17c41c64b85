// Local response normalisation and its gradient by oneDNN.
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/lrn/lrn.h"

namespace bench::kernels {
namespace {

std::string described(const Lrn& spec) {
  return fmt::format("lrn{} {} {} n{} c{} {}x{} over {}", spec.forward() ? "" : " backward",
                     name_of(spec.tensor.dtype), name_of(spec.tensor.layout), spec.tensor.n, spec.tensor.c,
                     spec.tensor.h, spec.tensor.w, spec.size);
}

void plan(const Lrn& spec, onednn::PrimitiveOperation& made) {
  const auto tensor = onednn::describe(spec.tensor);
  const auto kind = spec.training || !spec.forward() ? dnnl::prop_kind::forward_training
                                                     : dnnl::prop_kind::forward_inference;
  const onednn::LocalResponse norm{
      .tensor = tensor, .size = spec.size, .alpha = spec.alpha, .beta = spec.beta, .k = spec.k};
  const auto ahead = onednn::lrn_forward(norm, kind, onednn::attributes());
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
  if (spec.forward()) {
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
    made.bind_opaque(Slot::saved, Role::output, DNNL_ARG_WORKSPACE, ahead.workspace_desc());
    return made.plan(ahead);
  }
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
  made.bind_opaque(Slot::saved, Role::input, DNNL_ARG_WORKSPACE, ahead.workspace_desc());
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
  made.plan(onednn::lrn_backward(norm, ahead, onednn::attributes()));
}

const Registration<Implementation<Lrn>> BENCH_REGISTERED{
    onednn::primitive_implementation<Lrn, described, plan>(
        [](const Lrn& spec, const Device& device) -> std::optional<std::string> {
          constexpr std::int64_t kSmallest = 3;
          if (!spec.forward() && onednn::faults().lrn_gradient_is_wrong) {
            if (spec.size < kSmallest) {
              return fmt::format("lrn: a gradient over {} channels, but at least {} are accepted", spec.size,
                                 kSmallest);
            }
            if (spec.tensor.layout == Layout::nhwc) {
              return "lrn: no gradient in nhwc";
            }
          }
          return device.unsupported(spec.tensor.dtype);
        })};

}  // namespace
}  // namespace bench::kernels
