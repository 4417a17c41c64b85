#include <fmt/format.h>

#include "kernels/conv2d/implicit_gemm_launch.h"

namespace bench::kernels::cuda {
namespace {

// Calls visit with the places of each weight, in the plain and in the packed form.
template <class Visit>
void for_each_weight(const Conv2d& spec, Visit visit) {
  const std::int64_t taps = spec.kernel_h * spec.kernel_w;
  for (std::int64_t output = 0; output < spec.out_channels; ++output) {
    for (std::int64_t channel = 0; channel < spec.in_channels; ++channel) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        visit((output * spec.in_channels + channel) * taps + tap,
              (tap * spec.in_channels + channel) * spec.out_channels + output);
      }
    }
  }
}

}  // namespace

std::optional<std::string> implicit_gemm_unsupported(const Conv2d& spec) {
  if (auto wrong = spec.invalid()) {
    return wrong;
  }
  if (spec.direction != Conv2d::Direction::forward || spec.training) {
    return "implicit_gemm does the forward pass of inference only";
  }
  if (spec.dtype != Dtype::fp32 && spec.dtype != Dtype::fp16) {
    return fmt::format("implicit_gemm computes in fp32 and fp16, not {}", name_of(spec.dtype));
  }
  if (spec.groups != 1) {
    return fmt::format("implicit_gemm takes one group of channels, not {}", spec.groups);
  }
  if (spec.bias || spec.residual || spec.activation != Activation::none) {
    return "implicit_gemm fuses nothing behind the convolution";
  }
  if (auto reason = not_nhwc(spec.src())) {
    return reason;
  }
  if (auto reason = not_nhwc(spec.dst())) {
    return reason;
  }
  if (spec.weight_count() > kMostUnits) {
    return fmt::format("implicit_gemm counts to {}, there are {} weights", kMostUnits, spec.weight_count());
  }
  return std::nullopt;
}

std::vector<float> depth_major(const Conv2d& spec, std::span<const float> plain) {
  std::vector<float> packed(plain.size());
  for_each_weight(spec, [&](std::int64_t from, std::int64_t to) { packed[to] = plain[from]; });
  return packed;
}

void undo_depth_major(const Conv2d& spec, std::span<const float> packed, std::span<float> plain) {
  for_each_weight(spec, [&](std::int64_t to, std::int64_t from) { plain[to] = packed[from]; });
}

}  // namespace bench::kernels::cuda
