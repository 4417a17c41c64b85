// Softmax, its logarithm and their gradients by oneDNN.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/softmax/softmax.h"

namespace bench::kernels {
namespace {

std::string described(const Softmax& spec) {
  return fmt::format("{}softmax{} {} n{} c{}", spec.log ? "log " : "", spec.forward() ? "" : " backward",
                     name_of(spec.tensor.dtype), spec.tensor.n, spec.tensor.c);
}

void plan(const Softmax& spec, onednn::PrimitiveOperation& made) {
  constexpr int kChannels = 1;
  const bool matrix = spec.tensor.h == 1 && spec.tensor.w == 1 && spec.tensor.layout != Layout::nchw16c;
  const auto tensor = matrix ? onednn::describe_matrix(spec.tensor) : onednn::describe(spec.tensor);
  const auto algorithm = spec.log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  const auto kind = spec.training || !spec.forward() ? dnnl::prop_kind::forward_training
                                                     : dnnl::prop_kind::forward_inference;
  const auto ahead =
      onednn::softmax_forward(kind, algorithm, tensor, tensor, kChannels, onednn::attributes());
  if (spec.forward()) {
    made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, ahead.src_desc());
    made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, ahead.dst_desc());
    return made.plan(ahead);
  }
  made.bind_activation(Slot::dst, Role::input, DNNL_ARG_DST, spec.tensor, tensor);
  made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.tensor, tensor);
  made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.tensor, tensor);
  made.plan(onednn::softmax_backward(algorithm, tensor, kChannels, ahead, onednn::attributes()));
}

const Registration<Implementation<Softmax>> BENCH_REGISTERED{
    onednn::primitive_implementation<Softmax, described, plan>(
        [](const Softmax& spec, const Device& device) { return device.unsupported(spec.tensor.dtype); })};

}  // namespace
}  // namespace bench::kernels
