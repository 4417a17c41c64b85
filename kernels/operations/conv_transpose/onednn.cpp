// Transposed convolution by oneDNN, which calls it a deconvolution.
#include <array>

#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {
namespace {

using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

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
  const onednn::Convolution shape{
      .algorithm = dnnl::algorithm::deconvolution_direct,
      .src = src,
      .weights = any,
      .bias = spec.bias ? std::optional(bias) : std::nullopt,
      .dst = dst,
      .strides = {spec.stride.h, spec.stride.w},
      .dilates = {spec.dilation.h - 1, spec.dilation.w - 1},
      .pad_begin = {spec.pad.top, spec.pad.left},
      .pad_end = {spec.pad.bottom - spec.output_pad.h, spec.pad.right - spec.output_pad.w}};
  const auto ahead =
      onednn::deconvolution_forward(shape, dnnl::prop_kind::forward_training, onednn::attributes());
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
      const auto pd = onednn::deconvolution_backward_data(shape, ahead, onednn::attributes());
      made.bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec.dst(), dst);
      made.bind_converted_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, ahead.weights_desc(),
                                    pd.weights_desc(), plain);
      made.bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec.src, src);
      return made.plan(pd);
    }
    case Direction::backward_weights: {
      const auto pd = onednn::deconvolution_backward_weights(shape, ahead, onednn::attributes());
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

const Registration<Implementation<ConvTranspose>> BENCH_REGISTERED{
    onednn::primitive_implementation<ConvTranspose, described, plan>(
        [](const ConvTranspose& spec, const Device& device) { return device.unsupported(spec.src.dtype); })};

}  // namespace
}  // namespace bench::kernels
