// Transposed convolution by oneDNN, which calls it a deconvolution.
#include <array>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {
namespace {

using onednn::describe;
using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Forward = dnnl::deconvolution_forward;
using BackwardData = dnnl::deconvolution_backward_data;
using BackwardWeights = dnnl::deconvolution_backward_weights;

constexpr auto kDirect = dnnl::algorithm::deconvolution_direct;

std::string described(const ConvTranspose& spec) {
  constexpr std::array kDirections{"forward", "backward-data", "backward-weights"};
  return fmt::format("transposed convolution {} {} {} n{} c{} {}x{} k{} {}x{}",
                     kDirections[static_cast<std::size_t>(spec.direction)], name_of(spec.src.dtype),
                     name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h, spec.src.w,
                     spec.out_channels, spec.kernel, spec.kernel);
}

class OnednnConvTranspose final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnConvTranspose(const ConvTranspose& spec)
      : PrimitiveOperation(described(spec)),
        spec_(spec),
        strides_{spec.stride, spec.stride},
        src_(describe(spec.src)),
        dst_(describe(spec.dst())),
        bias_(onednn::describe_vector(spec.out_channels)) {
    onednn::translated(described(spec), [&] {
      switch (spec.direction) {
        case ConvTranspose::Direction::forward:
          return forward();
        case ConvTranspose::Direction::backward_data:
          return backward_data();
        case ConvTranspose::Direction::backward_weights:
          return backward_weights();
        case ConvTranspose::Direction::backward:
          break;
      }
    });
  }

  double flops() const override { return 2.0 * static_cast<double>(spec_.macs()); }

 private:
  // oneDNN's dimensions are [out][in][kh][kw] here too; the plain form has in before out.
  dnnl::memory::dims weight_dims() const {
    return {spec_.out_channels, spec_.src.c, spec_.kernel, spec_.kernel};
  }
  MemoryDesc plain_weights() const { return {weight_dims(), dnnl::memory::data_type::f32, Tag::iohw}; }
  MemoryDesc any_weights() const { return {weight_dims(), onednn::type_of(spec_.src.dtype), Tag::any}; }

  Forward::primitive_desc plan_forward() const {
    const auto kind = dnnl::prop_kind::forward_training;
    const auto desc =
        spec_.bias
            ? Forward::desc(kind, kDirect, src_, any_weights(), bias_, dst_, strides_, padding_, padding_)
            : Forward::desc(kind, kDirect, src_, any_weights(), dst_, strides_, padding_, padding_);
    return {desc, onednn::attributes(), onednn::engine()};
  }

  void forward() {
    const Forward::primitive_desc pd = plan_forward();
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src, pd.src_desc());
    bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, pd.weights_desc(), plain_weights());
    if (spec_.bias) {
      bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, pd.bias_desc(), pd.bias_desc());
    }
    bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec_.dst(), pd.dst_desc());
    plan(pd);
  }

  void backward_data() {
    const Forward::primitive_desc hint = plan_forward();
    const BackwardData::primitive_desc pd(
        BackwardData::desc(kDirect, src_, any_weights(), dst_, strides_, padding_, padding_),
        onednn::attributes(), onednn::engine(), hint);
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), pd.diff_dst_desc());
    bind_converted_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, hint.weights_desc(),
                             pd.weights_desc(), plain_weights());
    bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec_.src, pd.diff_src_desc());
    plan(pd);
  }

  void backward_weights() {
    const Forward::primitive_desc hint = plan_forward();
    const auto desc =
        spec_.bias
            ? BackwardWeights::desc(kDirect, src_, any_weights(), bias_, dst_, strides_, padding_, padding_)
            : BackwardWeights::desc(kDirect, src_, any_weights(), dst_, strides_, padding_, padding_);
    const BackwardWeights::primitive_desc pd(desc, onednn::attributes(), onednn::engine(), hint);
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src, pd.src_desc());
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), pd.diff_dst_desc());
    bind_converted_parameter(Slot::diff_weights, Role::output, DNNL_ARG_DIFF_WEIGHTS, hint.weights_desc(),
                             pd.diff_weights_desc(), plain_weights());
    if (spec_.bias) {
      bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc(),
                     pd.diff_bias_desc());
    }
    plan(pd);
  }

  ConvTranspose spec_;
  dnnl::memory::dims strides_;
  dnnl::memory::dims padding_{0, 0};
  MemoryDesc src_;
  MemoryDesc dst_;
  MemoryDesc bias_;
};

const Registration<Implementation<ConvTranspose>> registered{
    cpu_implementation<ConvTranspose, OnednnConvTranspose>(
        "onednn", 10,
        [](const ConvTranspose& spec, const Device& device) { return device.unsupported(spec.src.dtype); })};

}  // namespace
}  // namespace bench::kernels
