// Where the taps of a resize lie, in whole numbers: the same on every machine.
#pragma once

#include <cmath>

#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/resize/resize.h"

namespace bench::kernels {

// The places (i · step + offset) / unit of whole numbers i from 0 to Resize::kLongest on an axis of pixels,
// without a division, for which a GPU calls a function: an estimate in fp32 is less than a pixel off, so that
// what it leaves is less than two units and needs no more than 32 bits to be known exactly. Places beyond
// `end` pixels count as one there.
class PixelPlaces {
 public:
  struct Place {
    std::int32_t pixel;
    std::int32_t rest;  // behind the pixel, in units
  };

  PixelPlaces(std::int64_t step, std::int64_t offset, std::int64_t unit, std::int64_t end)
      : step_(static_cast<std::uint32_t>(step)),
        offset_(static_cast<std::uint32_t>(offset)),
        unit_(static_cast<std::int32_t>(unit)),
        end_(static_cast<std::int32_t>(end) + 1),  // which may be taken for one pixel less
        pixels_(static_cast<std::int32_t>(step / unit < end ? step / unit : end)),
        rest_(static_cast<std::int32_t>(step % unit)),
        ratio_(static_cast<float>(step) / static_cast<float>(unit)),
        ratio_rest_(static_cast<float>(static_cast<double>(step) / static_cast<double>(unit) -
                                       static_cast<double>(ratio_))),
        start_(static_cast<float>(static_cast<double>(offset) / static_cast<double>(unit))),
        share_(1.0F / static_cast<float>(unit)) {}

  BENCH_DEVICE Place at(std::int32_t i) const {
    const auto number = static_cast<float>(i);
    const float estimate = fmaf(number, ratio_, fmaf(number, ratio_rest_, start_));
    const auto end = static_cast<float>(end_);
    Place place;
    place.pixel = static_cast<std::int32_t>(floorf(estimate < end ? estimate : end));
    place.rest = static_cast<std::int32_t>(static_cast<std::uint32_t>(i) * step_ + offset_ -
                                           static_cast<std::uint32_t>(place.pixel) *
                                               static_cast<std::uint32_t>(unit_));
    const std::int32_t wrong = place.rest < 0 ? -1 : place.rest >= unit_ ? 1 : 0;
    place.pixel += wrong;
    place.rest -= wrong * unit_;
    // Only of places beyond the end there may be more left.
    place.rest = place.rest < 0 ? 0 : place.rest < unit_ ? place.rest : unit_;
    return place;
  }

  // The place of the number after this one's.
  BENCH_DEVICE Place after(Place place) const {
    place.pixel += pixels_;
    place.rest += rest_;
    if (place.rest >= unit_) {
      ++place.pixel;
      place.rest -= unit_;
    }
    place.pixel = place.pixel < end_ ? place.pixel : end_;
    return place;
  }

  // How far behind its pixel a place is, from 0 to 1.
  BENCH_DEVICE float behind(const Place& place) const { return static_cast<float>(place.rest) * share_; }

 private:
  std::uint32_t step_, offset_;
  std::int32_t unit_, end_;
  std::int32_t pixels_, rest_;        // step = pixels_ · unit + rest_
  float ratio_, ratio_rest_, start_;  // in pixels: step, what fp32 leaves of it, offset
  float share_;                       // 1 / unit
};

// An axis by itself; a kernel's argument.
template <Resize::Kind kKind>
class TapAxis {
 public:
  // Taps of an output: of the pixels around its place.
  static constexpr int kTaps = kKind == Resize::Kind::nearest ? 1 : kKind == Resize::Kind::linear ? 2 : 4;
  static constexpr int kBefore = kKind == Resize::Kind::cubic ? 1 : 0;

  TapAxis(const Resize& spec, const ResizeAxis& axis)
      : TapAxis(kKind == Resize::Kind::nearest ? axis.rounded_down(spec.rounding) : axis, spec.cubic) {}

  std::int32_t in() const { return in_; }
  std::int32_t out() const { return out_; }

  struct Taps {
    std::int32_t pixels[kTaps];  // of the input
    float weights[kTaps];
  };
  using Place = PixelPlaces::Place;
  BENCH_DEVICE Place place(std::int32_t o) const { return places_.at(o); }
  BENCH_DEVICE Place after(const Place& place) const { return places_.after(place); }
  BENCH_DEVICE Taps taps(const Place& place) const {
    Taps taps;
    BENCH_UNROLL
    for (int tap = 0; tap < kTaps; ++tap) {
      const std::int32_t pixel = place.pixel + tap - kBefore;
      // One choice after the other: of a choice within a choice nvcc makes a branch.
      const std::int32_t inside = pixel < in_ ? pixel : in_ - 1;
      taps.pixels[tap] = inside < 0 ? 0 : inside;
    }
    weigh(place, taps.weights);
    return taps;
  }

  // The outputs of which an input is a tap: from `first` up to, not including, `last`. Places do not fall
  // from output to output.
  struct Outputs {
    std::int32_t first;
    std::int32_t last;
  };
  BENCH_DEVICE Outputs outputs_of(std::int32_t i) const {
    // Pixels beyond the edges count as the ones there.
    return {i == 0 ? 0 : first_output(i), i == in_ - 1 ? out_ : first_output(i + kTaps)};
  }

  // Pixels that count as an input: itself and, for one at an edge, those beyond.
  struct Pixels {
    std::int32_t first;
    std::int32_t last;
  };
  BENCH_DEVICE Pixels pixels_of(std::int32_t i) const {
    return {i == 0 ? -kTaps : i, i == in_ - 1 ? INT32_MAX : i};
  }

  // The weight of an input's pixels in the output at a place, of which it is a tap.
  BENCH_DEVICE float weight(const Place& place, const Pixels& pixels) const {
    if constexpr (kTaps == 1) {
      return 1.0F;
    } else {
      float weights[kTaps];
      weigh(place, weights);
      float sum = 0;
      BENCH_UNROLL
      for (int tap = 0; tap < kTaps; ++tap) {
        const std::int32_t pixel = place.pixel + tap - kBefore;
        sum += pixel >= pixels.first && pixel <= pixels.last ? weights[tap] : 0.0F;
      }
      return sum;
    }
  }

 private:
  static constexpr int kAfter = kTaps - 1 - kBefore;

  // An input i is a tap of no output before place i − kAfter, (i · unit − kAfter · unit − offset) / step
  // rounded up.
  TapAxis(const ResizeAxis& axis, float cubic)
      : places_(axis.step, axis.offset, axis.unit, axis.in),
        outputs_(axis.unit, -kAfter * axis.unit - axis.offset + axis.step - 1, axis.step == 0 ? 1 : axis.step,
                 axis.out),
        in_(static_cast<std::int32_t>(axis.in)),
        out_(static_cast<std::int32_t>(axis.out)),
        one_place_(axis.step == 0),
        last_tap_(only_pixel(axis) + kAfter),
        cubic_(cubic) {}

  // Of all outputs where the step is 0: the place of output 0, rounded down, within the axis and one beyond
  // it.
  static std::int32_t only_pixel(const ResizeAxis& axis) {
    const std::int64_t down = axis.offset / axis.unit - (axis.offset % axis.unit < 0 ? 1 : 0);
    return static_cast<std::int32_t>(down < axis.in + 1 ? down : axis.in + 1);
  }

  BENCH_DEVICE std::int32_t first_output(std::int32_t i) const {
    if (one_place_) {
      return i > last_tap_ ? out_ : 0;
    }
    const std::int32_t first = outputs_.at(i).pixel;
    return first < 0 ? 0 : first < out_ ? first : out_;
  }

  BENCH_DEVICE void weigh(const Place& place, float (&weights)[kTaps]) const {
    if constexpr (kKind == Resize::Kind::nearest) {
      weights[0] = 1.0F;
      return;
    }
    const float behind = places_.behind(place);
    if constexpr (kKind == Resize::Kind::linear) {
      weights[0] = 1.0F - behind;
      weights[1] = behind;
    } else if constexpr (kKind == Resize::Kind::cubic) {
      weights[0] = far_weight(1.0F + behind);
      weights[1] = near_weight(behind);
      weights[2] = near_weight(1.0F - behind);
      weights[3] = far_weight(2.0F - behind);
    }
  }
  // Keys' kernel at a distance of up to 1, and from 1 to 2.
  BENCH_DEVICE float near_weight(float x) const {
    return ((cubic_ + 2.0F) * x - (cubic_ + 3.0F)) * x * x + 1.0F;
  }
  BENCH_DEVICE float far_weight(float x) const {
    return ((cubic_ * x - 5.0F * cubic_) * x + 8.0F * cubic_) * x - 4.0F * cubic_;
  }

  PixelPlaces places_;   // of outputs in the input
  PixelPlaces outputs_;  // the first of each input
  std::int32_t in_;
  std::int32_t out_;
  bool one_place_;         // all outputs have
  std::int32_t last_tap_;  // of output 0
  float cubic_;
};

// Calls visit with the kind as a template argument.
template <class Visit>
auto with_kind(Resize::Kind kind, const Visit& visit) {
  using K = Resize::Kind;
  switch (kind) {
    case K::nearest:
      return visit.template operator()<K::nearest>();
    case K::linear:
      return visit.template operator()<K::linear>();
    default:
      return visit.template operator()<K::cubic>();
  }
}

}  // namespace bench::kernels
