// Transposed convolution by oneDNN, which calls it a deconvolution.
#include <array>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {
namespace {

using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Forward = dnnl::deconvolution_forward;
using BackwardData = dnnl::deconvolution_backward_data;
using BackwardWeights = dnnl::deconvolution_backward_weights;

constexpr auto kDirect = dnnl::algorithm::deconvolution_direct;

std::string described(const ConvTranspose& spec) {
  return fmt::format("transposed convolution {} {} {} n{} c{} {}x{} k{} {}x{}", name_of(spec.direction),
                     name_of(spec.src.dtype), name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h,
                     spec.src.w, spec.out_channels, spec.kernel.h, spec.kernel.w);
}

void plan(const ConvTranspose& spec, onednn::PrimitiveOperation& made) {
  // oneDNN's dimensions are [out][in][kh][kw] here too; the plain form has in before out.
  const std::int64_t out = spec.out_channels / spec.groups;
  const std::int64_t in = spec.src.c / spec.groups;
  const dnnl::memory::dims weight_dims =
      spec.groups == 1 ? dnnl::memory::dims{out, in, spec.kernel.h, spec.kernel.w}
                       : dnnl::memory::dims{spec.groups, out, in, spec.kernel.h, spec.kernel.w};
  const MemoryDesc plain(weight_dims, dnnl::memory::data_type::f32,
                         spec.groups == 1 ? Tag::iohw : Tag::giohw);
  const MemoryDesc any(weight_dims, onednn::type_of(spec.src.dtype), Tag::any);
  const MemoryDesc src = onednn::describe(spec.src);
  const MemoryDesc dst = onednn::describe(spec.dst());
  const MemoryDesc bias = onednn::describe_vector(spec.out_channels);
  const dnnl::memory::dims strides{spec.stride.h, spec.stride.w};
  const dnnl::memory::dims dilates{spec.dilation.h - 1, spec.dilation.w - 1};  // oneDNN counts the gaps
  const dnnl::memory::dims begin{spec.pad.top, spec.pad.left};
  const dnnl::memory::dims end{spec.pad.bottom - spec.output_pad.h, spec.pad.right - spec.output_pad.w};
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  const Forward::primitive_desc ahead(
      spec.bias ? Forward::desc(kKind, kDirect, src, any, bias, dst, strides, dilates, begin, end)
                : Forward::desc(kKind, kDirect, src, any, dst, strides, dilates, begin, end),
      onednn::attributes(), onednn::engine());
  switch (spec.direction) {
    case Direction::forward:
      made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, src);
      made.bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, ahead.weights_desc(), plain);
      if (spec.bias) {
        made.bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, bias, bias);
      }
      made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), dst);
      return made.plan(ahead);
    case Direction::backward_data: {
      const BackwardData::primitive_desc pd(
          BackwardData::desc(kDirect, src, any, dst, strides, dilates, begin, end), onednn::attributes(),
          onednn::engine(), ahead);
      made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.dst(), dst);
      made.bind_converted_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, ahead.weights_desc(),
                                    pd.weights_desc(), plain);
      made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.src, src);
      return made.plan(pd);
    }
    case Direction::backward_weights: {
      const BackwardWeights::primitive_desc pd(
          spec.bias ? BackwardWeights::desc(kDirect, src, any, bias, dst, strides, dilates, begin, end)
                    : BackwardWeights::desc(kDirect, src, any, dst, strides, dilates, begin, end),
          onednn::attributes(), onednn::engine(), ahead);
      made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src, src);
      made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.dst(), dst);
      made.bind_converted_parameter(Slot::diff_weights, Role::output, DNNL_ARG_DIFF_WEIGHTS,
                                    ahead.weights_desc(), pd.diff_weights_desc(), plain);
      if (spec.bias) {
        made.bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, bias, bias);
      }
      return made.plan(pd);
    }
    case Direction::backward:
      break;
  }
}

const Registration<Implementation<ConvTranspose>> registered{
    onednn::primitive_implementation<ConvTranspose, described, plan>(
        [](const ConvTranspose& spec, const Device& device) { return device.unsupported(spec.src.dtype); })};

}  // namespace
}  // namespace bench::kernels
