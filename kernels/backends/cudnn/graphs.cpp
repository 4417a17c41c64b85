#include "kernels/backends/cudnn/graphs.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace bench::kernels::cudnn {
namespace {

constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;
constexpr int kTensorCoresForBf16 = 80;  // and for tf32

std::string suffix_of(Activation activation) {
  return activation == Activation::none ? "" : fmt::format("+{}", name_of(activation.kind));
}

// "3" where both are alike, else "1x5".
std::string pair_of(std::int64_t rows, std::int64_t columns) {
  return rows == columns ? fmt::format("{}", rows) : fmt::format("{}x{}", rows, columns);
}

// 75 as "7.5".
std::string capability_text(int compute_capability) {
  return fmt::format("{}.{}", compute_capability / 10, compute_capability % 10);
}

std::string version_text(std::int64_t version) {
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

// NVIDIA's own front end refuses these, or works around them, by version.
std::optional<std::string> unsupported_gradient(const Attention& spec, std::int64_t version) {
  constexpr std::int64_t kClearsItsSums = 90600;
  constexpr std::int64_t kTakesAnyLength = 91600;
  constexpr std::int64_t kBlock = 128;
  if (version < kClearsItsSums || version == 91000 || version == 91001) {
    return fmt::format("attention's gradient is not right with cuDNN {}", version_text(version));
  }
  for (const std::int64_t length : {spec.sequence, spec.key_count()}) {
    if (length % kBlock != 0 && version < kTakesAnyLength) {
      return fmt::format("cuDNN {} takes sequences of whole {} positions in attention's gradient, not {}",
                         version_text(version), kBlock, length);
    }
  }
  return std::nullopt;
}

std::int64_t most_elements(const Attention& spec) {
  return spec.packed ? spec.src().elements()
                     : std::max(spec.src().elements(), spec.keys_or_values().elements());
}

}  // namespace

Conv2d fused(const Conv2d& spec) {
  Conv2d convolution = spec.direction == Direction::forward ? spec : bare(spec);
  convolution.training = false;
  convolution.extra = {};
  return convolution;
}

Conv2d bare(const Conv2d& spec) {
  Conv2d convolution = spec;
  convolution.bias = convolution.residual = convolution.training = false;
  convolution.activation = Activation::none;
  convolution.extra = {};
  return convolution;
}

bool fuses(const Conv2d& convolution) {
  return convolution.bias || convolution.residual || convolution.activation != Activation::none;
}

Tensor channels_last(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return {.dims = {n, c, h, w}, .strides = {h * w * c, 1, w * c, c}};
}

Tensor channels_first(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return {.dims = {n, c, h, w}, .strides = {c * h * w, h * w, w, 1}};
}

ConvolutionTensors tensors_of(const Conv2d& convolution) {
  const Conv2d& c = convolution;
  const auto stored = c.src_layout == Layout::nchw ? channels_first : channels_last;
  return {.x = stored(c.batch, c.in_channels, c.height, c.width),
          .w = stored(c.out_channels, c.in_channels / c.groups, c.kernel_h, c.kernel_w),
          .y = stored(c.batch, c.out_channels, c.out_height(), c.out_width())};
}

cuda::Parts parts_of(const Conv2d& spec) {
  const Conv2d one = of_samples(spec, 1);
  return cuda::parts_of(spec.batch, std::max(one.src().elements(), one.dst().elements()), kMostElements);
}

cuda::Parts parts_of(const Attention& spec) {
  return cuda::parts_of(spec.batch, most_elements(of_samples(spec, 1)), kMostElements);
}

std::string described(const Conv2d& convolution) {
  const Conv2d& c = convolution;
  std::string text =
      fmt::format("{} {} n{} c{} {}x{} k{} {}x{} stride {} pad {}", name_of(c.direction), name_of(c.dtype),
                  c.batch, c.in_channels, c.height, c.width, c.out_channels, c.kernel_h, c.kernel_w,
                  pair_of(c.stride_h, c.stride_w), pair_of(c.pad_h, c.pad_w));
  if (c.pad_bottom != 0 || c.pad_right != 0) {
    text += fmt::format(" to {}", pair_of(c.pad_h + c.pad_bottom, c.pad_w + c.pad_right));
  }
  if (c.dilation_h != 1 || c.dilation_w != 1) {
    text += fmt::format(" dilation {}", pair_of(c.dilation_h, c.dilation_w));
  }
  if (c.groups != 1) {
    text += fmt::format(" groups {}", c.groups);
  }
  if (c.src_layout != Layout::nhwc) {
    text += fmt::format(" {}", name_of(c.src_layout));
  }
  if (fuses(c)) {
    text +=
        fmt::format(" {}{}{}", c.residual ? "+residual" : "", c.bias ? "+bias" : "", suffix_of(c.activation));
  }
  return text;
}

std::string described(const Attention& spec) {
  return fmt::format("attention {} {} n{}, {} heads of {}, sequence {}{}{}",
                     !spec.forward() ? "backward"
                     : spec.training ? "training"
                                     : "inference",
                     name_of(spec.dtype), spec.batch, spec.heads, spec.head_size, spec.sequence,
                     spec.key_count() == spec.sequence ? "" : fmt::format(" by {} keys", spec.key_count()),
                     spec.causal ? "" : ", of all positions");
}

std::optional<std::string> unsupported(Dtype dtype, int compute_capability) {
  if ((dtype == Dtype::bf16 || dtype == Dtype::tf32) && compute_capability < kTensorCoresForBf16) {
    return fmt::format("{} needs compute capability 8.0 or later, this device has {}; give fp16 or fp32",
                       name_of(dtype), capability_text(compute_capability));
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

std::optional<std::string> unsupported(const Attention& spec, int compute_capability, std::int64_t version) {
  constexpr int kFirst = 80;
  constexpr std::int64_t kEight = 8;
  if (const auto wrong = spec.invalid()) {
    return wrong;
  }
  if (bytes_of(spec.dtype) != 2) {
    return fmt::format("cuDNN's attention takes fp16 and bf16, not {}", name_of(spec.dtype));
  }
  if (compute_capability < kFirst) {
    return fmt::format("cuDNN's attention needs compute capability 8.0 or later, this device has {}",
                       capability_text(compute_capability));
  }
  const std::int64_t most = compute_capability / 10 == 9 ? 256 : 128;
  if (spec.head_size % kEight != 0 || spec.head_size > most) {
    return fmt::format("cuDNN's attention takes heads of {} features at most, a multiple of {}, not {}", most,
                       kEight, spec.head_size);
  }
  if (std::min(spec.sequence, spec.key_count()) < 2) {
    return "cuDNN's attention takes two positions at least";
  }
  const std::int64_t elements = most_elements(of_samples(spec, 1));
  if (elements > kMostElements) {
    return fmt::format("cuDNN's attention is given tensors of at most {} elements, a sample has {}",
                       kMostElements, elements);
  }
  return spec.forward() ? std::nullopt : unsupported_gradient(spec, version);
}

}  // namespace bench::kernels::cudnn
