// Awkward sizes that every matrix product and transposed convolution is tried with.
#pragma once

#include <array>
#include <cstdint>

namespace bench::kernels::testing {

struct ProductShape {
  std::int64_t rows, inner, columns;
};
inline constexpr std::array kProductShapes{
    ProductShape{1, 64, 10}, ProductShape{2, 31, 17}, ProductShape{3, 33, 129}, ProductShape{16, 512, 250},
    ProductShape{64, 5, 3},  ProductShape{1, 1, 1},   ProductShape{5, 1, 1}};

// U-Net's kernel on even and odd maps; patches that overlap, and patches with room between them.
struct ConvTransposeShape {
  std::int64_t in, out, h, w, kernel, stride;
};
inline constexpr std::array kConvTransposeShapes{
    ConvTransposeShape{64, 32, 6, 5, 2, 2}, ConvTransposeShape{20, 7, 3, 3, 2, 2},
    ConvTransposeShape{16, 16, 1, 1, 2, 2}, ConvTransposeShape{16, 16, 4, 5, 3, 2},
    ConvTransposeShape{3, 5, 4, 3, 2, 3}};

}  // namespace bench::kernels::testing
