// Maps in another size, and the gradient: each pixel of the result is a weighted sum of pixels around a place
// in the input, rows and columns independently:
//   forward:  dst[n,c,y,x] = Σ_i Σ_j wy_i · wx_j · src[n, c, row_i(y), column_j(x)]
//   backward: a pixel of the input collects diff_dst from the pixels it is part of, by the same weights
// The place of output o along an axis is the fraction (o · step + offset) / unit, exact in whole numbers, so
// that every implementation rounds to the same pixel. From a place p:
//   nearest: the pixel that `rounding` names
//   linear:  ⌊p⌋ and the one after it, by distance
//   cubic:   the two on either side, by Keys' convolution kernel with this `cubic` (1981; a = −3/4 as PyTorch
//            and ONNX have it)
// A pixel outside is the nearest one inside.
//
// Pixels that are only repeated, as networks scale their maps up, are the fast path of each implementation.
//
// Slots. forward: src → dst.   backward: diff_dst → diff_src.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// From output to place, with s = input size / output size, or 1 / a given scale. In ONNX's words.
enum class Coordinates {
  half_pixel,          // (o + 1/2) · s − 1/2
  pytorch_half_pixel,  // the same, and 0 where the output is one pixel
  align_corners,       // o · (in − 1) / (out − 1), and 0 where the output is one pixel
  asymmetric,          // o · s
};

// Of a place between two pixels; halves are rounded down or up.
enum class PixelRounding { floor, ceil, half_down, half_up };

struct ResizeAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t step = 1, offset = 0, unit = 1;  // of the fraction above; step ≥ 0, unit ≥ 1

  // `scale` of the output, where it is not out / in; it is taken to a millionth.
  static ResizeAxis of(Coordinates coordinates, std::int64_t in, std::int64_t out,
                       std::optional<double> scale = std::nullopt);
  // The axis whose places are, rounded down, those of this one rounded so.
  ResizeAxis rounded_down(PixelRounding rounding) const;
  bool operator==(const ResizeAxis&) const = default;
};

struct Resize {
  static constexpr std::string_view kName = "resize";
  static constexpr std::int64_t kLongest = std::int64_t{1} << 22;  // pixels of an axis
  static constexpr std::int64_t kFinest = std::int64_t{1} << 29;   // step and unit of one
  enum class Kind { nearest, linear, cubic };
  using Rounding = PixelRounding;

  TensorDesc src;
  ResizeAxis rows, columns;
  Kind kind = Kind::nearest;
  Rounding rounding = Rounding::half_down;  // nearest only
  float cubic = -0.75F;
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  TensorDesc dst() const { return {src.n, src.c, rows.out, columns.out, src.layout, src.dtype}; }
  // Pixels along an axis that one of the result is made of.
  int taps() const { return kind == Kind::nearest ? 1 : kind == Kind::linear ? 2 : 4; }
  // How many pixels of rows and of columns each pixel becomes, where that is all: dst[n, c, y, x] =
  // src[n, c, ⌊y / factor⌋, ⌊x / factor⌋].
  std::optional<std::int64_t> factor() const;
  // A product and a sum for each of them; copies take none, and their gradients sums alone.
  double flops() const {
    const auto pixels = static_cast<double>(dst().elements());
    return kind != Kind::nearest ? 2.0 * taps() * taps() * pixels : forward() ? 0 : pixels;
  }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const Resize&) const = default;
};

// The layer's options in a network.
struct ResizeOptions {
  std::int64_t height = 1, width = 1;                   // of the result
  std::optional<double> height_scale{}, width_scale{};  // where places are not by the sizes
  Coordinates coordinates = Coordinates::half_pixel;
  Resize::Kind kind = Resize::Kind::nearest;
  Resize::Rounding rounding = Resize::Rounding::half_down;
  float cubic = -0.75F;
};

PlainSlots plain_slots(const Resize& spec);

}  // namespace bench::kernels
