// Awkward sizes that every matrix product and transposed convolution is tried with.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels::testing {

struct ProductShape {
  std::int64_t rows, inner, columns;
};
inline constexpr std::array kProductShapes{
    ProductShape{1, 64, 10}, ProductShape{2, 31, 17}, ProductShape{3, 33, 129}, ProductShape{16, 512, 250},
    ProductShape{64, 5, 3},  ProductShape{1, 1, 1},   ProductShape{5, 1, 1}};

// U-Net's kernel on even and odd maps; patches that overlap, and patches with room between them; edges cut
// off, unevenly and with rows added; oblong, dilated and in groups.
struct ConvTransposeShape {
  std::int64_t in, out, h, w;
  PerAxis kernel, stride;
  Padding pad = 0;
  PerAxis output_pad = 0;
  PerAxis dilation = 1;
  std::int64_t groups = 1;
};
inline constexpr std::array kConvTransposeShapes{
    ConvTransposeShape{64, 32, 6, 5, 2, 2},
    ConvTransposeShape{20, 7, 3, 3, 2, 2},
    ConvTransposeShape{16, 16, 1, 1, 2, 2},
    ConvTransposeShape{16, 16, 4, 5, 3, 2},
    ConvTransposeShape{3, 5, 4, 3, 2, 3},
    ConvTransposeShape{32, 16, 5, 4, 4, 2, 1},
    ConvTransposeShape{16, 20, 5, 4, 3, 2, 1, 1},
    ConvTransposeShape{16, 16, 1, 9, {1, 5}, {1, 3}, {0, 1, 0, 2}, {0, 2}},
    ConvTransposeShape{24, 8, 4, 5, {3, 2}, {1, 2}, {2, 0, 1, 1}, 0, {2, 1}, 4},
    ConvTransposeShape{16, 16, 5, 5, 3, 2, 1, 1, 1, 16}};

// Of two samples.
inline ConvTranspose conv_transpose_of(const ConvTransposeShape& s, Layout layout, Dtype dtype,
                                       Direction direction, bool bias) {
  return {.src = {.n = 2, .c = s.in, .h = s.h, .w = s.w, .layout = layout, .dtype = dtype},
          .out_channels = s.out,
          .kernel = s.kernel,
          .stride = s.stride,
          .pad = s.pad,
          .output_pad = s.output_pad,
          .dilation = s.dilation,
          .groups = s.groups,
          .direction = direction,
          .bias = bias && direction != Direction::backward_data};
}

inline std::string described(const ConvTranspose& spec) {
  return fmt::format("{} {} n{} c{} {}x{} to {} of {}x{}, kernel {}x{} stride {}x{} groups {} {} bias {}",
                     name_of(spec.src.dtype), name_of(spec.src.layout), spec.src.n, spec.src.c, spec.src.h,
                     spec.src.w, spec.out_channels, spec.dst().h, spec.dst().w, spec.kernel.h, spec.kernel.w,
                     spec.stride.h, spec.stride.w, spec.groups, name_of(spec.direction), spec.bias);
}

}  // namespace bench::kernels::testing
