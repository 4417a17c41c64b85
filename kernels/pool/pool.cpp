#include "kernels/pool/pool.h"

#include "kernels/window.h"

namespace bench::kernels {

double Pool::flops() const {
  const WindowAxis rows{src.h, out_height(), kernel_h, stride_h, pad_h};
  const WindowAxis columns{src.w, out_width(), kernel_w, stride_w, pad_w};
  return static_cast<double>(src.n * src.c * rows.real_taps() * columns.real_taps());
}

}  // namespace bench::kernels
