// Resizing as it is defined in resize.h, in double.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/resize/resize.h"

namespace bench::kernels {

ResizeAxis ResizeAxis::of(Coordinates coordinates, std::int64_t in, std::int64_t out,
                          std::optional<double> scale) {
  constexpr std::int64_t kMillion = 1'000'000;
  // s as a fraction.
  std::int64_t above = in;
  std::int64_t below = out;
  if (scale && std::llround(*scale * static_cast<double>(in * kMillion)) != out * kMillion) {
    above = kMillion;
    below = std::llround(*scale * static_cast<double>(kMillion));
  }
  ResizeAxis axis{.in = in, .out = out};
  if (coordinates == Coordinates::asymmetric) {
    axis.step = above;
    axis.unit = below;
  } else if (coordinates == Coordinates::align_corners) {
    axis.step = out > 1 ? in - 1 : 0;
    axis.unit = out > 1 ? out - 1 : 1;
  } else if (coordinates == Coordinates::half_pixel || out > 1) {
    axis.step = 2 * above;
    axis.offset = above - below;
    axis.unit = 2 * below;
  } else {
    axis.step = 0;
  }
  const std::int64_t common = std::gcd(axis.step, std::gcd(axis.offset, axis.unit));
  axis.step /= common;
  axis.offset /= common;
  axis.unit /= common;
  return axis;
}

ResizeAxis ResizeAxis::rounded_down(PixelRounding rounding) const {
  ResizeAxis axis = *this;
  if (rounding == PixelRounding::half_down || rounding == PixelRounding::half_up) {  // ⌊place + 1/2⌋
    axis.step *= 2;
    axis.offset = 2 * axis.offset + axis.unit;
    axis.unit *= 2;
  }
  if (rounding == PixelRounding::ceil) {
    axis.offset += axis.unit - 1;
  } else if (rounding == PixelRounding::half_down) {
    axis.offset -= 1;
  }
  return axis;
}

std::optional<std::int64_t> Resize::factor() const {
  const std::int64_t factor = rows.out / rows.in;
  for (const ResizeAxis& axis : {rows.rounded_down(rounding), columns.rounded_down(rounding)}) {
    const bool repeats = axis.out == factor * axis.in && axis.unit == factor * axis.step &&
                         axis.offset >= 0 && axis.offset < axis.step;
    if (kind != Kind::nearest || !repeats) {
      return std::nullopt;
    }
  }
  return factor;
}

std::optional<std::string> Resize::invalid() const {
  if (src.n < 1 || src.c < 1 || src.h != rows.in || src.w != columns.in) {
    return fmt::format("resize: axes of {}x{} pixels do not belong to maps of {}x{}", rows.in, columns.in,
                       src.h, src.w);
  }
  for (const ResizeAxis& axis : {rows, columns}) {
    if (axis.in < 1 || axis.out < 1 || axis.in > kLongest || axis.out > kLongest) {
      return fmt::format("resize: {} to {} pixels; accepted are 1 to {}", axis.in, axis.out, kLongest);
    }
    if (axis.step < 0 || axis.step > kFinest || axis.unit < 1 || axis.unit > kFinest) {
      return fmt::format("resize: places ({}o {:+}) / {}; accepted are whole numbers up to {}", axis.step,
                         axis.offset, axis.unit, kFinest);
    }
  }
  return std::nullopt;
}

PlainSlots plain_slots(const Resize& spec) {
  return PlainSlots::without_parameters(spec.forward(), spec.src, spec.dst());
}

namespace {

struct Tap {
  std::int64_t at = 0;
  double weight = 0;
};

std::vector<Tap> taps_of(const Resize& spec, const ResizeAxis& axis, std::int64_t o) {
  const auto unit = static_cast<double>(axis.unit);
  const double place = static_cast<double>(o * axis.step + axis.offset) / unit;
  const auto floor = static_cast<std::int64_t>(std::floor(place));
  std::vector<Tap> taps;
  const auto add = [&](std::int64_t at, double weight) {
    taps.push_back({std::clamp<std::int64_t>(at, 0, axis.in - 1), weight});
  };
  if (spec.kind == Resize::Kind::nearest) {
    // Halves of small whole numbers are exact in double.
    const double rounded = spec.rounding == Resize::Rounding::floor       ? std::floor(place)
                           : spec.rounding == Resize::Rounding::ceil      ? std::ceil(place)
                           : spec.rounding == Resize::Rounding::half_down ? std::ceil(place - 0.5)
                                                                          : std::floor(place + 0.5);
    add(static_cast<std::int64_t>(rounded), 1.0);
    return taps;
  }
  const double behind = place - static_cast<double>(floor);
  if (spec.kind == Resize::Kind::linear) {
    add(floor, 1 - behind);
    add(floor + 1, behind);
    return taps;
  }
  const double a = spec.cubic;
  for (std::int64_t k = -1; k <= 2; ++k) {
    const double x = std::fabs(behind - static_cast<double>(k));
    add(floor + k, x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
  }
  return taps;
}

class ReferenceResize final : public ReferenceOf<Resize> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const std::vector<float> given = read(pointers, spec_.forward() ? Slot::src : Slot::diff_dst);
    std::vector<double> made(
        static_cast<std::size_t>((spec_.forward() ? spec_.dst() : spec_.src).elements()));
    for_each_product([&](std::int64_t in, std::int64_t out, double weight) {
      if (spec_.forward()) {
        made[out] += weight * given[in];
      } else {
        made[in] += weight * given[out];
      }
    });
    write(pointers, spec_.forward() ? Slot::dst : Slot::diff_src,
          std::vector<float>(made.begin(), made.end()));
  }

 private:
  // Places in NCHW order of every pixel of the result and a pixel that it is made of.
  template <class Visit>
  void for_each_product(Visit visit) const {
    for (std::int64_t y = 0; y < spec_.rows.out; ++y) {
      const std::vector<Tap> rows = taps_of(spec_, spec_.rows, y);
      for (std::int64_t x = 0; x < spec_.columns.out; ++x) {
        for (const Tap& column : taps_of(spec_, spec_.columns, x)) {
          for (const Tap& row : rows) {
            for (std::int64_t plane = 0; plane < spec_.src.n * spec_.src.c; ++plane) {
              visit((plane * spec_.rows.in + row.at) * spec_.columns.in + column.at,
                    (plane * spec_.rows.out + y) * spec_.columns.out + x, row.weight * column.weight);
            }
          }
        }
      }
    }
  }
};

const Registration<Implementation<Resize>> BENCH_REGISTERED{
    reference_implementation<Resize, ReferenceResize>()};

}  // namespace
}  // namespace bench::kernels
