// Functions that oneDNN has, whose exponential is a vector's, and their gradients; rectifiers are limited by
// memory (cpu.cpp).
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/array.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels {
namespace {

std::string described(const Elementwise& spec) {
  return fmt::format("{}{} {} {}", name_of(spec.activation.kind), spec.forward() ? "" : " backward",
                     name_of(spec.tensor.dtype), name_of(spec.tensor.layout));
}

void plan(const Elementwise& spec, onednn::PrimitiveOperation& made) {
  const onednn::Eltwise function = onednn::eltwise_of(spec.activation).value();
  const auto tensor = onednn::describe(spec.tensor);
  const auto kind = spec.forward() ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const auto ahead = onednn::eltwise_forward(kind, function.algorithm, tensor, function.alpha, function.beta,
                                             onednn::attributes());
  if (spec.forward()) {
    made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, tensor);
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, tensor);
    return made.plan(ahead);
  }
  made.bind_activation(spec.slope_from(), Role::input,
                       spec.slope_from() == Slot::dst ? DNNL_ARG_DST : DNNL_ARG_SRC, spec.tensor, tensor);
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
  made.plan(onednn::eltwise_backward(function.algorithm, tensor, function.alpha, function.beta, ahead,
                                     onednn::attributes()));
}

const Registration<Implementation<Elementwise>> BENCH_REGISTERED{
    onednn::primitive_implementation<Elementwise, described, plan>(
        [](const Elementwise& spec, const Device& device) -> std::optional<std::string> {
          if (is_rectifier(spec.activation) || !onednn::eltwise_of(spec.activation) || spec.summands != 1) {
            return "oneDNN is asked for functions of one input that are no rectifiers";
          }
          if (spec.activation.kind == ActivationKind::linear && !spec.forward()) {
            return "oneDNN has no gradient of a linear function";
          }
          if (!keeps_zero(spec.activation) && padding_of(array_of(spec.tensor))) {
            return "oneDNN's vectors do not keep channel padding zero behind this function";
          }
          return device.unsupported(spec.tensor.dtype);
        })};

}  // namespace
}  // namespace bench::kernels
