// Changes of size that every implementation is tried with.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/operations/resize/resize.h"

namespace bench::kernels::testing {

// Each pixel so many times in rows and in columns.
inline Resize repeated(const TensorDesc& src, std::int64_t factor) {
  return {.src = src,
          .rows = ResizeAxis::of(Coordinates::asymmetric, src.h, factor * src.h),
          .columns = ResizeAxis::of(Coordinates::asymmetric, src.w, factor * src.w),
          .rounding = Resize::Rounding::floor};
}

// Larger, smaller, to one pixel and from one, by each way to find a place, and scales that the sizes are
// rounded from.
inline std::vector<Resize> resizes(const TensorDesc& src) {
  std::vector<Resize> all;
  for (const Coordinates coordinates : {Coordinates::half_pixel, Coordinates::pytorch_half_pixel,
                                        Coordinates::align_corners, Coordinates::asymmetric}) {
    const auto add = [&](std::int64_t h, std::int64_t w, std::optional<double> scale = std::nullopt) {
      Resize spec{.src = src,
                  .rows = ResizeAxis::of(coordinates, src.h, h, scale),
                  .columns = ResizeAxis::of(coordinates, src.w, w, scale)};
      for (const Resize::Rounding rounding : {Resize::Rounding::floor, Resize::Rounding::ceil,
                                              Resize::Rounding::half_down, Resize::Rounding::half_up}) {
        spec.rounding = rounding;
        all.push_back(spec);
      }
      for (const Resize::Kind kind : {Resize::Kind::linear, Resize::Kind::cubic}) {
        spec.kind = kind;
        all.push_back(spec);
      }
    };
    add(2 * src.h, 3 * src.w);
    add(2 * src.h, 2 * src.w);
    add(3 * src.h, 3 * src.w);
    add((src.h + 1) / 2, 1);
    add(src.h + 2, src.w - 1);
    add(src.h * 5 / 2, src.w * 5 / 2, 2.5);
  }
  return all;
}

inline std::string described(const Resize& spec) {
  return fmt::format("{} {} {} of {} channels, {}x{} to {}x{}, places ({}o {:+}) / {}",
                     name_of(spec.src.dtype), name_of(spec.src.layout),
                     spec.kind == Resize::Kind::nearest
                         ? fmt::format("nearest {}", static_cast<int>(spec.rounding))
                     : spec.kind == Resize::Kind::linear ? "linear"
                                                         : "cubic",
                     spec.src.c, spec.rows.in, spec.columns.in, spec.rows.out, spec.columns.out,
                     spec.rows.step, spec.rows.offset, spec.rows.unit);
}

}  // namespace bench::kernels::testing
