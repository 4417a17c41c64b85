// A product with weights and its gradients by oneDNN.
//
// Packed weights: by oneDNN's matmul or by its 1×1 convolution, whichever has the better kernels. Bias and
// activation are fused.
//
// Plain weights: left to itself oneDNN would block them. Over plain ones its two algorithms differ much, so
// each direction takes the one that measured better on shapes like 16x2048->1000 and 4x25088->4096 (Zen 4,
// oneDNN 2.6.3):
//   forward:          matmul, at 16 rows in fp32 up to seven times as fast as the inner product; that one
//                     wins for one and two rows, which matmul packs all weights for.
//   backward_data:    inner product, the faster or equal.
//   backward_weights: inner product in fp32. In bf16 and fp16 it would hold the gradient in fp32 as well,
//                     twice the bytes of the weights, and take twice as long as matmul, which has no bias
//                     gradient.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

using Tag = dnnl::memory::format_tag;
using MemoryDesc = dnnl::memory::desc;

constexpr std::int64_t kFewRows = 2;

std::string described(const Linear& spec) {
  return fmt::format("linear {} {} {}x{} to {}", name_of(spec.direction), name_of(spec.dtype), spec.rows,
                     spec.inner, spec.columns);
}

bool is_narrow(const Linear& spec) {
  return bytes_of(spec.dtype) < bytes_of(Dtype::fp32);
}

// Whether the bias's gradient is ours to make.
bool sums_bias(const Linear& spec) {
  return spec.direction == Direction::backward_weights && spec.bias && is_narrow(spec);
}

// Before AVX-512 oneDNN's product is its general one, which packs the weights in every run, is slow where
// rows of weights are whole pages apart, and computes functions after it one element at a time. Seen with
// version 2.6 and AVX2: 128 rows by 768 to 3072 columns at 40 GFLOP/s a core, with a GELU less, and at 85 by
// the convolution. That takes whole vectors of features, and gains nothing with few rows.
bool is_better_convolved(const Linear& spec, const dnnl::matmul::primitive_desc& product) {
  constexpr std::int64_t kLeastRows = 16;
  constexpr std::int64_t kVector = 8;
  constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
  return !onednn::has_avx512() && std::string_view(product.impl_info_str()).starts_with("gemm") &&
         spec.rows >= kLeastRows && spec.inner % kVector == 0 && spec.columns % kVector == 0 &&
         spec.rows * std::max(spec.inner, spec.columns) < kMostElements;
}

// Rows are pixels, one below the other.
void plan_convolution(const Linear& spec, onednn::PrimitiveOperation& made,
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
void plan_packed(const Linear& spec, onednn::PrimitiveOperation& made) {
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

void plan_plain(const Linear& spec, onednn::PrimitiveOperation& made) {
  const MemoryDesc src = onednn::describe_matrix(spec.src());
  const MemoryDesc dst = onednn::describe_matrix(spec.dst());
  const MemoryDesc weights({spec.columns, spec.inner}, onednn::type_of(spec.dtype), Tag::ab);
  const MemoryDesc plain(onednn::dims_of(weights), dnnl::memory::data_type::f32, Tag::ab);
  const MemoryDesc bias = onednn::describe_vector(spec.columns);
  const auto attributes = onednn::attributes();
  const onednn::InnerProduct shape{
      .src = src, .weights = weights, .bias = spec.bias ? std::optional(bias) : std::nullopt, .dst = dst};
  // Also the hint that oneDNN plans a gradient with.
  const auto inner_product = [&] {
    return onednn::inner_product_forward(shape, dnnl::prop_kind::forward_training, attributes);
  };

  switch (spec.direction) {
    case Direction::forward: {
      made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src(), src);
      made.bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, weights, plain);
      if (spec.bias) {
        made.bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, bias, bias);
      }
      made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), dst);
      if (spec.rows <= kFewRows) {
        return made.plan(inner_product());
      }
      // matmul multiplies by [inner][columns], of which the weights are the transpose.
      const MemoryDesc transposed({spec.inner, spec.columns}, onednn::type_of(weights), Tag::ba);
      const MemoryDesc row({1, spec.columns}, onednn::type_of(bias), Tag::ab);
      return made.plan(
          onednn::matmul(src, transposed, spec.bias ? std::optional(row) : std::nullopt, dst, attributes));
    }
    case Direction::backward_data:
      made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.dst(), dst);
      made.bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, weights, plain);
      made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.src(), src);
      return made.plan(onednn::inner_product_backward_data(shape, inner_product(), attributes));
    case Direction::backward_weights: {
      const bool by_matmul = is_narrow(spec);
      // [columns][inner] = diff_dst transposed by src.
      const MemoryDesc transposed({spec.columns, spec.rows}, onednn::type_of(dst), Tag::ba);
      made.bind_activation(Slot::src, Role::input, by_matmul ? DNNL_ARG_WEIGHTS : DNNL_ARG_SRC, spec.src(),
                           src);
      made.bind_activation(Slot::diff_dst, Role::input, by_matmul ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST,
                           spec.dst(), by_matmul ? transposed : dst);
      made.bind_parameter(Slot::diff_weights, Role::output, by_matmul ? DNNL_ARG_DST : DNNL_ARG_DIFF_WEIGHTS,
                          weights, plain);
      if (spec.bias) {  // matmul has no such argument and passes over it
        made.bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, bias, bias);
      }
      if (by_matmul) {
        return made.plan(onednn::matmul(transposed, src, std::nullopt, weights, attributes));
      }
      return made.plan(onednn::inner_product_backward_weights(shape, inner_product(), attributes));
    }
    case Direction::backward:
      break;
  }
}

class OnednnLinear final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnLinear(const Linear& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec),
                       [&] { spec.packed ? plan_packed(spec, *this) : plan_plain(spec, *this); });
  }
  double flops() const override { return spec_.flops(); }

  void run(const SlotPointers& pointers) override {
    PrimitiveOperation::run(pointers);
    if (!sums_bias(spec_)) {
      return;
    }
    with_element(spec_.dtype, [&]<class Element>() { sum_bias<Element>(pointers); });
  }

 private:
  template <class Element>
  void sum_bias(const SlotPointers& pointers) const {
    const auto* const diff_dst = static_cast<const typename Element::Stored*>(pointers[Slot::diff_dst]);
    auto* const diff_bias = static_cast<float*>(pointers[Slot::diff_bias]);
    std::fill_n(diff_bias, spec_.columns, 0.0F);
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      for (std::int64_t column = 0; column < spec_.columns; ++column) {
        diff_bias[column] += Element::to(diff_dst[row * spec_.columns + column]);
      }
    }
  }

  Linear spec_;
};

const Registration<Implementation<Linear>> BENCH_REGISTERED{cpu_implementation<Linear, OnednnLinear>(
    "onednn", 10, [](const Linear& spec, const Device& device) -> std::optional<std::string> {
      // oneDNN's matmul cuts larger sizes to 32 bits, and divides by them.
      if (std::max({spec.rows, spec.inner, spec.columns}) > std::int64_t{1} << 31) {
        return "oneDNN's matrix product takes at most 2^31 rows and columns";
      }
      return device.unsupported(spec.dtype);
    })};

}  // namespace
}  // namespace bench::kernels
