// A linear layer and its gradients by oneDNN, over plain weights.
//
// Left to itself oneDNN would block the weights. Over plain ones its two ways to multiply differ much, so
// each direction takes the one that measured better on shapes like 16x2048->1000 and 4x25088->4096 (Zen 4,
// oneDNN 2.6.3):
//   forward:          matmul, at 16 rows in fp32 up to seven times as fast as the inner product; that one
//                     wins for one and two rows, which matmul packs all weights for.
//   backward_data:    inner product, the faster or equal.
//   backward_weights: inner product in fp32. In bf16 it would hold the gradient in fp32 as well, twice the
//                     bytes of the weights, and take twice as long as matmul, which has no bias gradient.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

using Tag = dnnl::memory::format_tag;
using MemoryDesc = dnnl::memory::desc;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeights = dnnl::inner_product_backward_weights;

constexpr std::int64_t kFewRows = 2;

std::string described(const Linear& spec) {
  constexpr std::array kDirections{"forward", "backward-data", "backward-weights"};
  return fmt::format("linear {} {} {}x{} to {}", kDirections[static_cast<std::size_t>(spec.direction)],
                     name_of(spec.dtype), spec.rows, spec.inner, spec.columns);
}

class OnednnLinear final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnLinear(const Linear& spec)
      : PrimitiveOperation(described(spec)),
        spec_(spec),
        src_(onednn::describe_matrix(spec.src())),
        dst_(onednn::describe_matrix(spec.dst())),
        weights_({spec.columns, spec.inner}, onednn::type_of(spec.dtype), Tag::ab),
        bias_(onednn::describe_vector(spec.columns)) {
    onednn::translated(described(spec), [&] {
      switch (spec.direction) {
        case Linear::Direction::forward:
          return forward();
        case Linear::Direction::backward_data:
          return backward_data();
        case Linear::Direction::backward_weights:
          return backward_weights();
        case Linear::Direction::backward:
          break;
      }
    });
  }

  void run(const SlotPointers& pointers) override {
    PrimitiveOperation::run(pointers);
    if (sums_bias_) {
      sum_bias(static_cast<const Bf16::Stored*>(pointers[Slot::diff_dst]),
               static_cast<float*>(pointers[Slot::diff_bias]));
    }
  }

  double flops() const override { return spec_.flops(); }

 private:
  void forward() {
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), src_);
    bind_weights(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS);
    if (spec_.bias) {
      bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, bias_, bias_);
    }
    bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec_.dst(), dst_);
    if (spec_.rows <= kFewRows) {
      plan(forward_inner_product());
      return;
    }
    // matmul multiplies by [inner][columns], of which the weights are the transpose.
    const MemoryDesc transposed({spec_.inner, spec_.columns}, weights_.data_type(), Tag::ba);
    const MemoryDesc bias({1, spec_.columns}, bias_.data_type(), Tag::ab);
    plan(dnnl::matmul::primitive_desc(spec_.bias ? dnnl::matmul::desc(src_, transposed, bias, dst_)
                                                 : dnnl::matmul::desc(src_, transposed, dst_),
                                      onednn::attributes(), onednn::engine()));
  }

  void backward_data() {
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), dst_);
    bind_weights(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS);
    bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec_.src(), src_);
    plan(BackwardData::primitive_desc(BackwardData::desc(src_, weights_, dst_), onednn::attributes(),
                                      onednn::engine(), forward_inner_product()));
  }

  void backward_weights() {
    if (spec_.dtype == Dtype::bf16) {
      backward_weights_by_matmul();
      return;
    }
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), src_);
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), dst_);
    bind_weights(Slot::diff_weights, Role::output, DNNL_ARG_DIFF_WEIGHTS);
    if (spec_.bias) {
      bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, bias_, bias_);
    }
    plan(BackwardWeights::primitive_desc(spec_.bias ? BackwardWeights::desc(src_, weights_, bias_, dst_)
                                                    : BackwardWeights::desc(src_, weights_, dst_),
                                         onednn::attributes(), onednn::engine(), forward_inner_product()));
  }

  // [columns][inner] = diff_dst transposed by src.
  void backward_weights_by_matmul() {
    const MemoryDesc transposed({spec_.columns, spec_.rows}, dst_.data_type(), Tag::ba);
    bind_activation(Slot::src, Role::input, DNNL_ARG_WEIGHTS, spec_.src(), src_);
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_SRC, spec_.dst(), transposed);
    bind_weights(Slot::diff_weights, Role::output, DNNL_ARG_DST);
    if (spec_.bias) {
      // Matmul has no such argument and passes over it.
      bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, bias_, bias_);
      sums_bias_ = true;
    }
    plan(dnnl::matmul::primitive_desc(dnnl::matmul::desc(transposed, src_, weights_), onednn::attributes(),
                                      onednn::engine()));
  }

  void bind_weights(Slot slot, Role role, int argument) {
    const MemoryDesc plain(weights_.dims(), dnnl::memory::data_type::f32, Tag::ab);
    bind_parameter(slot, role, argument, weights_, plain);
  }

  // Also the hint that oneDNN plans a gradient with.
  Forward::primitive_desc forward_inner_product() const {
    const auto training = dnnl::prop_kind::forward_training;
    return {spec_.bias ? Forward::desc(training, src_, weights_, bias_, dst_)
                       : Forward::desc(training, src_, weights_, dst_),
            onednn::attributes(), onednn::engine()};
  }

  void sum_bias(const Bf16::Stored* diff_dst, float* diff_bias) const {
    std::fill_n(diff_bias, spec_.columns, 0.0F);
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      for (std::int64_t column = 0; column < spec_.columns; ++column) {
        diff_bias[column] += Bf16::to(diff_dst[row * spec_.columns + column]);
      }
    }
  }

  Linear spec_;
  MemoryDesc src_;
  MemoryDesc dst_;
  MemoryDesc weights_;
  MemoryDesc bias_;
  bool sums_bias_ = false;  // diff_bias is ours to make, from bf16
};

const Registration<Implementation<Linear>> registered{cpu_implementation<Linear, OnednnLinear>(
    "onednn", 10, [](const Linear& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
