// Resizing on fibers: larger, smaller and oblong, channels that fill an access and odd ones.
#include "kernels/operations/resize/cuda.cu"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "on_fibers.h"
#include "tests/kernels/operations/resize_cases.h"

namespace bench::kernels {
namespace {

// Axes of every way to find places: some short, some as long as there are, scales that no fraction of small
// numbers is.
std::vector<ResizeAxis> axes(std::int64_t longest, int count) {
  std::minstd_rand random(1);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  std::vector<ResizeAxis> all;
  for (int i = 0; i < count; ++i) {
    const std::int64_t in = up_to(longest);
    const std::int64_t out = up_to(longest);
    for (const Coordinates coordinates : {Coordinates::half_pixel, Coordinates::pytorch_half_pixel,
                                          Coordinates::align_corners, Coordinates::asymmetric}) {
      all.push_back(ResizeAxis::of(coordinates, in, out));
      all.push_back(ResizeAxis::of(coordinates, in, 1));
      all.push_back(ResizeAxis::of(coordinates, 1, out));
      all.push_back(ResizeAxis::of(coordinates, in, out, static_cast<double>(up_to(99'999'999)) * 1e-6));
    }
  }
  return all;
}

std::int64_t floor_of(std::int64_t number, std::int64_t unit) {
  return number / unit - (number % unit < 0 ? 1 : 0);
}

TEST(PixelPlaces, AreExactOnTheLongestAxes) {
  for (const ResizeAxis& axis : axes(Resize::kLongest, 200)) {
    const std::int64_t end = axis.in;
    const PixelPlaces places(axis.step, axis.offset, axis.unit, end);
    for (const std::int64_t from : {std::int64_t{0}, axis.out / 3, std::max<std::int64_t>(axis.out - 3, 0)}) {
      PixelPlaces::Place walked{};
      for (std::int64_t i = from; i < std::min(from + 3, axis.out); ++i) {
        const std::int64_t number = i * axis.step + axis.offset;
        const std::int64_t pixel = floor_of(number, axis.unit);
        const auto place = places.at(static_cast<std::int32_t>(i));
        walked = i == from ? place : places.after(walked);
        SCOPED_TRACE(
            fmt::format("({} · {} {:+}) / {}, {} pixels", i, axis.step, axis.offset, axis.unit, axis.in));
        for (const auto& found : {place, walked}) {
          if (pixel >= end) {
            ASSERT_GE(found.pixel, end);
            ASSERT_TRUE(places.behind(found) >= 0 && places.behind(found) <= 1);
          } else {
            ASSERT_EQ(found.pixel, pixel);
            ASSERT_EQ(found.rest, number - pixel * axis.unit);
          }
        }
      }
    }
  }
}

// The range of outputs that an input is a tap of, from the taps of each output.
TEST(TapAxis, KnowsTheOutputsOfAnInput) {
  Resize spec;
  spec.rounding = Resize::Rounding::half_up;
  for (const ResizeAxis& axis : axes(40, 30)) {
    for (const Resize::Kind kind : {Resize::Kind::nearest, Resize::Kind::linear, Resize::Kind::cubic}) {
      with_kind(kind, [&]<Resize::Kind kKind>() {
        const TapAxis<kKind> taps(spec, axis);
        for (std::int32_t i = 0; i < axis.in; ++i) {
          const auto outputs = taps.outputs_of(i);
          for (std::int32_t o = 0; o < axis.out; ++o) {
            const auto of_output = taps.taps(taps.place(o));
            ASSERT_EQ(std::ranges::count(of_output.pixels, i) > 0, o >= outputs.first && o < outputs.last)
                << fmt::format("kind {}, input {} of {}, output {} at ({} · o {:+}) / {}",
                               static_cast<int>(kKind), i, axis.in, o, axis.step, axis.offset, axis.unit);
          }
        }
      });
    }
  }
}

TEST(CudaResize, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t channels : {3, 8}) {
      for (const Resize& spec : testing::resizes({.n = 2, .c = channels, .h = 4, .w = 5, .dtype = dtype})) {
        SCOPED_TRACE(testing::described(spec));
        testing::expect_like_reference<cuda::ResizeOperation>(spec, dtype);
        testing::expect_like_reference<cuda::ResizeOperation>(backward_of(spec), dtype);
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
