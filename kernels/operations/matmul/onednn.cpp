// Matrix product by oneDNN, with bias and activation fused behind it.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/matmul/matmul.h"

namespace bench::kernels {
namespace {

using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

std::string described(const Matmul& spec) {
  return fmt::format("matmul {} {}x{} by {}", name_of(spec.dtype), spec.rows, spec.inner, spec.columns);
}

// oneDNN multiplies by [inner][columns]; the plain weights [columns][inner] are its transpose, tag "ba".
void plan(const Matmul& spec, onednn::PrimitiveOperation& made) {
  const dnnl::memory::dims weights{spec.inner, spec.columns};
  const MemoryDesc plain(weights, dnnl::memory::data_type::f32, Tag::ba);
  const MemoryDesc packed(weights, onednn::type_of(spec.dtype), Tag::any);
  const MemoryDesc bias({1, spec.columns}, dnnl::memory::data_type::f32, Tag::ab);
  const MemoryDesc src = onednn::describe_matrix(spec.src());
  const MemoryDesc dst = onednn::describe_matrix(spec.dst());
  dnnl::post_ops post_ops;
  onednn::append(post_ops, spec.activation);
  const dnnl::matmul::primitive_desc pd(
      spec.bias ? dnnl::matmul::desc(src, packed, bias, dst) : dnnl::matmul::desc(src, packed, dst),
      onednn::attributes(post_ops), onednn::engine());
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src(), pd.src_desc());
  made.bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, pd.weights_desc(), plain);
  if (spec.bias) {
    made.bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, bias, bias);
  }
  made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), pd.dst_desc());
  made.plan(pd);
}

const Registration<Implementation<Matmul>> registered{
    onednn::primitive_implementation<Matmul, described, plan>(
        [](const Matmul& spec, const Device& device) -> std::optional<std::string> {
          // It divides by what is left of a larger count in 32 bits.
          if (std::max({spec.rows, spec.inner, spec.columns}) > std::int64_t{1} << 31) {
            return "oneDNN's matrix product takes at most 2^31 rows and columns";
          }
          return device.unsupported(spec.dtype);
        })};

}  // namespace
}  // namespace bench::kernels
