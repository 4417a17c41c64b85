// Matrix product by oneDNN, with bias and activation fused after it: by its product, or by its convolution
// of one pixel, whichever has the better kernels.
#include <algorithm>
#include <string_view>

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

// Before AVX-512 oneDNN's product is its general one, which packs the weights in every run, is slow where
// rows of weights are whole pages apart, and computes functions after it one element at a time. Seen with
// version 2.6 and AVX2: 128 rows by 768 to 3072 columns at 40 GFLOP/s a core, with a GELU less, and at 85 by
// the convolution. That takes whole vectors of features, and gains nothing with few rows.
bool is_better_convolved(const Matmul& spec, const dnnl::matmul::primitive_desc& product) {
  constexpr std::int64_t kLeastRows = 16;
  constexpr std::int64_t kVector = 8;
  constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
  return !onednn::has_avx512() && std::string_view(product.impl_info_str()).starts_with("gemm") &&
         spec.rows >= kLeastRows && spec.inner % kVector == 0 && spec.columns % kVector == 0 &&
         spec.rows * std::max(spec.inner, spec.columns) < kMostElements;
}

// Rows are pixels, one below the other.
void plan_convolution(const Matmul& spec, onednn::PrimitiveOperation& made,
                      const dnnl::primitive_attr& attributes) {
  const auto type = onednn::type_of(spec.dtype);
  const MemoryDesc src({1, spec.inner, spec.rows, 1}, type, Tag::nhwc);
  const MemoryDesc dst({1, spec.columns, spec.rows, 1}, type, Tag::nhwc);
  const dnnl::memory::dims weights{spec.columns, spec.inner, 1, 1};
  const MemoryDesc plain(weights, dnnl::memory::data_type::f32, Tag::oihw);
  const MemoryDesc packed(weights, type, Tag::any);
  const MemoryDesc bias = onednn::describe_vector(spec.columns);
  const auto pd = onednn::convolution_forward({.algorithm = dnnl::algorithm::convolution_direct,
                                               .src = src,
                                               .weights = packed,
                                               .bias = spec.bias ? std::optional(bias) : std::nullopt,
                                               .dst = dst,
                                               .strides = {1, 1},
                                               .dilates = {0, 0},
                                               .pad_begin = {0, 0},
                                               .pad_end = {0, 0}},
                                              dnnl::prop_kind::forward_inference, attributes);
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src(), src);
  made.bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, pd.weights_desc(), plain);
  if (spec.bias) {
    made.bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, bias, bias);
  }
  made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), dst);
  made.plan(pd);
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
  const dnnl::primitive_attr attributes = onednn::attributes(post_ops);
  const auto pd =
      onednn::matmul(src, packed, spec.bias ? std::optional(bias) : std::nullopt, dst, attributes);
  if (is_better_convolved(spec, pd)) {
    return plan_convolution(spec, made, attributes);
  }
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src(), pd.src_desc());
  made.bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, pd.weights_desc(), plain);
  if (spec.bias) {
    made.bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, bias, bias);
  }
  made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), pd.dst_desc());
  made.plan(pd);
}

const Registration<Implementation<Matmul>> BENCH_REGISTERED{
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
