// Softmax by oneDNN.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/softmax/softmax.h"

namespace bench::kernels {
namespace {

using Forward = dnnl::softmax_forward;

std::string described(const Softmax& spec) {
  return fmt::format("softmax {} n{} c{}", name_of(spec.tensor.dtype), spec.tensor.n, spec.tensor.c);
}

void plan(const Softmax& spec, onednn::PrimitiveOperation& made) {
  constexpr int kChannels = 1;
  const auto tensor = spec.tensor.layout == Layout::nchw16c ? onednn::describe(spec.tensor)
                                                            : onednn::describe_matrix(spec.tensor);
  const Forward::primitive_desc pd(Forward::desc(dnnl::prop_kind::forward_inference, tensor, kChannels),
                                   onednn::attributes(), onednn::engine());
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.tensor, pd.src_desc());
  made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.tensor, pd.dst_desc());
  made.plan(pd);
}

const Registration<Implementation<Softmax>> registered{
    onednn::primitive_implementation<Softmax, described, plan>(
        [](const Softmax& spec, const Device& device) -> std::optional<std::string> {
          if (spec.tensor.h != 1 || spec.tensor.w != 1) {
            return fmt::format("softmax takes rows of channels, not {}x{} images", spec.tensor.h,
                               spec.tensor.w);
          }
          return device.unsupported(spec.tensor.dtype);
        })};

}  // namespace
}  // namespace bench::kernels
