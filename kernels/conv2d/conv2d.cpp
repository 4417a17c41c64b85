#include "kernels/conv2d/conv2d.h"

#include <fmt/format.h>

#include "kernels/window.h"

namespace bench::kernels {

std::int64_t Conv2d::macs() const {
  const WindowAxis rows{height, out_height(), kernel_h, stride_h, pad_h, dilation_h};
  const WindowAxis columns{width, out_width(), kernel_w, stride_w, pad_w, dilation_w};
  return batch * out_channels * (in_channels / groups) * rows.real_taps() * columns.real_taps();
}

std::optional<std::string> Conv2d::invalid() const {
  struct Field {
    const char* name;
    std::int64_t value;
    std::int64_t smallest;
  };
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  for (const Field& field : {Field{"batch", batch, 1},
                             {"in_channels", in_channels, 1},
                             {"height", height, 1},
                             {"width", width, 1},
                             {"out_channels", out_channels, 1},
                             {"kernel_h", kernel_h, 1},
                             {"kernel_w", kernel_w, 1},
                             {"stride_h", stride_h, 1},
                             {"stride_w", stride_w, 1},
                             {"pad_h", pad_h, 0},
                             {"pad_w", pad_w, 0},
                             {"dilation_h", dilation_h, 1},
                             {"dilation_w", dilation_w, 1},
                             {"groups", groups, 1}}) {
    if (field.value < field.smallest || field.value > kLargest) {
      return fmt::format("conv2d: {} is {}, but must be between {} and {}", field.name, field.value,
                         field.smallest, kLargest);
    }
  }
  if (in_channels % groups != 0 || out_channels % groups != 0) {
    return fmt::format("conv2d: groups {} does not divide {} {}", groups,
                       in_channels % groups != 0 ? "in_channels" : "out_channels",
                       in_channels % groups != 0 ? in_channels : out_channels);
  }
  // Signed: the division in out_height() would round a negative size up to one row.
  if (height + 2 * pad_h < dilation_h * (kernel_h - 1) + 1 ||
      width + 2 * pad_w < dilation_w * (kernel_w - 1) + 1) {
    return fmt::format(
        "conv2d: a {}x{} kernel with dilation {}x{} does not fit an input of {}x{} with padding {}x{}",
        kernel_h, kernel_w, dilation_h, dilation_w, height, width, pad_h, pad_w);
  }
  if (const auto wrong = too_large()) {
    return wrong;
  }
  if (direction != Direction::forward && (residual || activation != Activation::none)) {
    return std::string("conv2d: residual and activation belong to the forward direction");
  }
  if (direction == Direction::backward_data && bias) {
    return std::string("conv2d: the gradient of src does not depend on a bias");
  }
  return std::nullopt;
}

}  // namespace bench::kernels
