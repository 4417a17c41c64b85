#include "kernels/pool/pool.h"

#include <fmt/format.h>

#include "kernels/window.h"

namespace bench::kernels {

double Pool::flops() const {
  const WindowAxis rows{src.h, out_height(), kernel_h, stride_h, pad_h};
  const WindowAxis columns{src.w, out_width(), kernel_w, stride_w, pad_w};
  return static_cast<double>(src.n * src.c * rows.real_taps() * columns.real_taps());
}

std::optional<std::string> Pool::invalid() const {
  if (src.n < 1 || src.c < 1 || src.h < 1 || src.w < 1 || stride_h < 1 || stride_w < 1) {
    return std::string("pool: sizes and strides must be at least 1");
  }
  // Padding as large as the kernel would leave windows without a real input.
  const std::int64_t bottom = pad_h + pad_bottom;
  const std::int64_t right = pad_w + pad_right;
  if (pad_h < 0 || pad_w < 0 || pad_bottom < 0 || pad_right < 0 || bottom >= kernel_h || right >= kernel_w) {
    return fmt::format("pool: padding {}x{} must be below the kernel's {}x{}", bottom, right, kernel_h,
                       kernel_w);
  }
  if (src.h + pad_h + bottom < kernel_h || src.w + pad_w + right < kernel_w) {
    return fmt::format("pool: a {}x{} window does not fit an input of {}x{} with padding {}x{}", kernel_h,
                       kernel_w, src.h, src.w, pad_h, pad_w);
  }
  return std::nullopt;
}

}  // namespace bench::kernels
