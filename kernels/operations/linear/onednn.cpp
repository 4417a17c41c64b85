// A linear layer and its gradients by oneDNN, over plain weights.
//
// Left to itself oneDNN would block the weights. Over plain ones its two algorithms differ much, so
// each direction takes the one that measured better on shapes like 16x2048->1000 and 4x25088->4096 (Zen 4,
// oneDNN 2.6.3):
//   forward:          matmul, at 16 rows in fp32 up to seven times as fast as the inner product; that one
//                     wins for one and two rows, which matmul packs all weights for.
//   backward_data:    inner product, the faster or equal.
//   backward_weights: inner product in fp32. In bf16 and fp16 it would hold the gradient in fp32 as well,
//   twice the
//                     bytes of the weights, and take twice as long as matmul, which has no bias gradient.
#include <algorithm>

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

void plan_primitive(const Linear& spec, onednn::PrimitiveOperation& made) {
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
    onednn::translated(described(spec), [&] { plan_primitive(spec, *this); });
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
    "onednn", 10, [](const Linear& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
