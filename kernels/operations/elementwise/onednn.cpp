// GELU and its gradient by oneDNN, whose tanh is a vector's; the other formulas are limited by memory
// (cpu.cpp).
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::eltwise_forward;
using Backward = dnnl::eltwise_backward;

std::string described(const Elementwise& spec) {
  return fmt::format("gelu{} {} {}", spec.forward() ? "" : " backward", name_of(spec.tensor.dtype),
                     name_of(spec.tensor.layout));
}

void plan(const Elementwise& spec, onednn::PrimitiveOperation& made) {
  const auto algorithm = onednn::algorithm_of(spec.activation);
  const auto tensor = onednn::describe(spec.tensor);
  const auto kind = spec.forward() ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const Forward::primitive_desc ahead(Forward::desc(kind, algorithm, tensor, 0.0F, 0.0F),
                                      onednn::attributes(), onednn::engine());
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
  if (spec.forward()) {
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
    return made.plan(ahead);
  }
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
  made.plan(Backward::primitive_desc(Backward::desc(algorithm, tensor, tensor, 0.0F, 0.0F),
                                     onednn::attributes(), onednn::engine(), ahead));
}

const Registration<Implementation<Elementwise>> registered{
    onednn::primitive_implementation<Elementwise, described, plan>(
        [](const Elementwise& spec, const Device& device) -> std::optional<std::string> {
          if (spec.activation != Activation::gelu || spec.summands != 1) {
            return "oneDNN is asked for gelu of one input only";
          }
          return device.unsupported(spec.tensor.dtype);
        })};

}  // namespace
}  // namespace bench::kernels
