#include "kernels/backends/cudnn/convolution.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace bench::kernels::cudnn {
namespace {

constexpr int kTensorCoresForBf16 = 80;  // and for tf32

Pass pass_of(Conv2d::Direction direction) {
  switch (direction) {
    case Conv2d::Direction::forward:
      return Pass::fprop;
    case Conv2d::Direction::backward_data:
      return Pass::dgrad;
    case Conv2d::Direction::backward_weights:
      return Pass::wgrad;
    case Conv2d::Direction::backward:
      break;
  }
  return Pass::fprop;
}

std::string_view name_of(Pass pass) {
  return pass == Pass::fprop ? "forward" : pass == Pass::dgrad ? "backward-data" : "backward-weights";
}

std::string_view suffix_of(Activation activation) {
  switch (activation) {
    case Activation::none:
      return "";
    case Activation::relu:
      return "+relu";
    case Activation::relu6:
      return "+relu6";
    case Activation::leaky_relu:
      return "+leaky_relu";
    case Activation::gelu:
      return "+gelu";
  }
  return "";
}

// "3" where both are alike, else "1x5".
std::string pair_of(const std::array<std::int64_t, 2>& pair) {
  return pair[0] == pair[1] ? fmt::format("{}", pair[0]) : fmt::format("{}x{}", pair[0], pair[1]);
}

}  // namespace

Tensor channels_last(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return {.dims = {n, c, h, w}, .strides = {h * w * c, 1, w * c, c}};
}

Convolution bare(const Conv2d& spec) {
  return {.pass = pass_of(spec.direction),
          .dtype = spec.dtype,
          .x = channels_last(spec.batch, spec.in_channels, spec.height, spec.width),
          .w = channels_last(spec.out_channels, spec.in_channels / spec.groups, spec.kernel_h, spec.kernel_w),
          .y = channels_last(spec.batch, spec.out_channels, spec.out_height(), spec.out_width()),
          .pad = {spec.pad_h, spec.pad_w},
          .stride = {spec.stride_h, spec.stride_w},
          .dilation = {spec.dilation_h, spec.dilation_w}};
}

Convolution fused(const Conv2d& spec) {
  Convolution convolution = bare(spec);
  if (convolution.pass == Pass::fprop) {
    convolution.bias = spec.bias;
    convolution.residual = spec.residual;
    convolution.activation = spec.activation;
  }
  return convolution;
}

cuda::Parts parts_of(const Conv2d& spec) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  const Conv2d one = of_samples(spec, 1);
  return cuda::parts_of(spec.batch, std::max(one.src().elements(), one.dst().elements()), kMost);
}

Conv2d of_samples(Conv2d spec, std::int64_t samples) {
  spec.batch = samples;
  return spec;
}

std::string described(const Convolution& convolution) {
  const auto& x = convolution.x.dims;
  const auto& w = convolution.w.dims;
  std::string text = fmt::format("{} {} n{} c{} {}x{} k{} {}x{} stride {} pad {}", name_of(convolution.pass),
                                 name_of(convolution.dtype), x[0], x[1], x[2], x[3], w[0], w[2], w[3],
                                 pair_of(convolution.stride), pair_of(convolution.pad));
  if (convolution.dilation != std::array<std::int64_t, 2>{1, 1}) {
    text += fmt::format(" dilation {}", pair_of(convolution.dilation));
  }
  if (w[1] != x[1]) {
    text += fmt::format(" groups {}", x[1] / w[1]);
  }
  if (convolution.fuses()) {
    text += fmt::format(" {}{}{}", convolution.residual ? "+residual" : "", convolution.bias ? "+bias" : "",
                        suffix_of(convolution.activation));
  }
  return text;
}

std::optional<std::string> unsupported(Dtype dtype, int compute_capability) {
  if ((dtype == Dtype::bf16 || dtype == Dtype::tf32) && compute_capability < kTensorCoresForBf16) {
    return fmt::format("{} needs compute capability 8.0 or later, this device has {}.{}; give fp16 or fp32",
                       name_of(dtype), compute_capability / 10, compute_capability % 10);
  }
  return std::nullopt;
}

std::optional<std::string> unsupported(const Conv2d& spec, int compute_capability) {
  if (auto wrong = spec.invalid()) {
    return wrong;
  }
  if (spec.src_layout != Layout::nhwc || spec.dst_layout != Layout::nhwc) {
    return fmt::format("cuDNN is given NHWC tensors here, not {} to {}", name_of(spec.src_layout),
                       name_of(spec.dst_layout));
  }
  return unsupported(spec.dtype, compute_capability);
}

}  // namespace bench::kernels::cudnn
