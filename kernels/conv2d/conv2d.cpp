#include "kernels/conv2d/conv2d.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/window.h"

namespace bench::kernels {
namespace {

std::string too_many(std::string_view options, std::string_view tensor, double elements) {
  return fmt::format("{} makes {} of {:.0f} elements; accepted are at most 2^40 = {} in a tensor", options,
                     tensor, elements, std::int64_t{1} << 40);
}

// Named as the command line names the sizes. As doubles: the products may pass 2^63.
std::optional<std::string> too_large(const Conv2d& conv) {
  constexpr double kMostElements = 0x1p40;
  const auto product = [](auto... sizes) { return (static_cast<double>(sizes) * ...); };
  if (const double src = product(conv.batch, conv.in_channels, conv.height, conv.width);
      src > kMostElements) {
    return too_many(fmt::format("--batch {} with --in-channels {}, --height {} and --width {}", conv.batch,
                                conv.in_channels, conv.height, conv.width),
                    "an input", src);
  }
  if (const double dst = product(conv.batch, conv.out_channels, conv.out_height(), conv.out_width());
      dst > kMostElements) {
    return too_many(fmt::format("--batch {} with --out-channels {}, --height {} and --width {}", conv.batch,
                                conv.out_channels, conv.height, conv.width),
                    fmt::format("an output ({}x{} pixels)", conv.out_height(), conv.out_width()), dst);
  }
  if (const double weights =
          product(conv.out_channels, conv.in_channels / conv.groups, conv.kernel_h, conv.kernel_w);
      weights > kMostElements) {
    return too_many(
        fmt::format("--kernel {} with --in-channels {}, --out-channels {} and --groups {}",
                    std::max(conv.kernel_h, conv.kernel_w), conv.in_channels, conv.out_channels, conv.groups),
        "weights", weights);
  }
  return std::nullopt;
}

}  // namespace

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
  if (auto wrong = too_large(*this)) {
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
