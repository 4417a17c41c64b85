// Resizing: the loops against the reference, the reference against differences and what PyTorch gives.
#include "kernels/operations/resize/resize.h"

#include <gmock/gmock.h>

#include <numeric>

#include "gradient_check.h"
#include "resize_cases.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;
using testing::Values;

class Resizes : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, Resizes, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(Resizes, BothPassesAreLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : testing::tensors_of_every_layout(GetParam())) {
    for (const Resize& spec : testing::resizes(tensor)) {
      SCOPED_TRACE(testing::described(spec));
      testing::expect_like_reference(spec, GetParam(), testing::tolerance_of(GetParam()));
      testing::expect_like_reference(backward_of(spec), GetParam(), testing::tolerance_of(GetParam()));
    }
  }
}

TEST(ResizeReference, GradientIsTheDerivative) {
  for (const Resize& spec : testing::resizes({.n = 1, .c = 2, .h = 3, .w = 4, .layout = Layout::nchw})) {
    SCOPED_TRACE(testing::described(spec));
    Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
    inputs.merge(
        testing::inputs_for(*make_operation(backward_of(spec), testing::cpu(), "reference"), Dtype::fp32));
    const std::vector<float> expected =
        testing::central_differences(spec, inputs, inputs.at(Slot::diff_dst), Slot::src, 1.0F);
    EXPECT_LT(relative_error(testing::run_reference(backward_of(spec), inputs).at(Slot::diff_src), expected),
              1e-5);
  }
}

// A row 1 2 4 8 in another length.
std::vector<float> row(Coordinates coordinates, std::int64_t out, Resize::Kind kind,
                       Resize::Rounding rounding = Resize::Rounding::floor) {
  const Resize spec{.src = {.n = 1, .c = 1, .h = 1, .w = 4},
                    .rows = {},
                    .columns = ResizeAxis::of(coordinates, 4, out),
                    .kind = kind,
                    .rounding = rounding};
  const auto operation = make_operation(spec, testing::cpu(), "reference");
  return testing::run_operation(*operation, {{Slot::src, {1, 2, 4, 8}}}).at(Slot::dst);
}

// As torch.nn.functional.interpolate gives it: nearest, nearest-exact, linear with and without align_corners,
// bicubic; ONNX's default rounds halves down.
TEST(ResizeOperation, HasThePlacesOfEachWayToFindThem) {
  using Kind = Resize::Kind;
  using Rounding = Resize::Rounding;
  EXPECT_THAT(row(Coordinates::asymmetric, 6, Kind::nearest), ElementsAre(1, 1, 2, 4, 4, 8));
  EXPECT_THAT(row(Coordinates::half_pixel, 2, Kind::nearest, Rounding::half_down), ElementsAre(1, 4));
  EXPECT_THAT(row(Coordinates::half_pixel, 2, Kind::nearest, Rounding::half_up), ElementsAre(2, 8));
  EXPECT_THAT(row(Coordinates::asymmetric, 3, Kind::nearest, Rounding::ceil), ElementsAre(1, 4, 8));
  EXPECT_THAT(row(Coordinates::align_corners, 3, Kind::linear), ElementsAre(1, 3, 8));
  EXPECT_THAT(row(Coordinates::half_pixel, 8, Kind::linear),
              ElementsAre(1, 1.25F, 1.75F, 2.5F, 3.5F, 5, 7, 8));
  EXPECT_THAT(row(Coordinates::half_pixel, 1, Kind::linear), ElementsAre(3));
  EXPECT_THAT(row(Coordinates::pytorch_half_pixel, 1, Kind::linear), ElementsAre(1));
  // Weights −3/32, 19/32, 19/32, −3/32 halfway between pixels.
  EXPECT_THAT(row(Coordinates::half_pixel, 2, Kind::cubic),
              Pointwise(FloatNear(1e-6F), {(-3 * 1 + 19 * 1 + 19 * 2 - 3 * 4) / 32.0F,
                                           (-3 * 2 + 19 * 4 + 19 * 8 - 3 * 8) / 32.0F}));
}

TEST(ResizeOperation, KnowsWherePixelsAreRepeated) {
  const TensorDesc maps{.n = 1, .c = 1, .h = 5, .w = 7};
  for (const std::int64_t factor : {1, 2, 3}) {
    EXPECT_EQ(testing::repeated(maps, factor).factor(), factor);
  }
  int found = 0;
  for (const Resize& spec : testing::resizes(maps)) {
    // By what dst would be: the reference's, of a map in which every pixel has another value.
    std::vector<float> values(35);
    std::iota(values.begin(), values.end(), 0.0F);
    const auto dst = testing::run_reference(spec, {{Slot::src, values}}).at(Slot::dst);
    const std::int64_t factor = spec.rows.out / 5;
    bool repeats =
        spec.kind == Resize::Kind::nearest && spec.rows.out == 5 * factor && spec.columns.out == 7 * factor;
    for (std::int64_t i = 0; repeats && i < spec.rows.out * spec.columns.out; ++i) {
      const std::int64_t y = i / spec.columns.out / factor;
      repeats = dst[i] == static_cast<float>(y * 7 + i % spec.columns.out / factor);
    }
    if (spec.factor()) {  // by align_corners they may be repeated by chance
      EXPECT_TRUE(repeats && spec.factor() == factor) << testing::described(spec);
    }
    found += spec.factor().has_value() ? 1 : 0;
  }
  EXPECT_EQ(found, 11);
}

TEST(ResizeOperation, RepeatsPixelsAndSumsTheirGradients) {
  const Resize spec = testing::repeated({.n = 1, .c = 1, .h = 1, .w = 2}, 2);
  for (const char* implementation : {"reference", "openmp", "onednn"}) {
    const auto forward = make_operation(spec, testing::cpu(), implementation);
    EXPECT_THAT(testing::run_operation(*forward, {{Slot::src, {3, 4}}}).at(Slot::dst),
                ElementsAre(3, 3, 4, 4, 3, 3, 4, 4));
    const auto backward = make_operation(backward_of(spec), testing::cpu(), implementation);
    EXPECT_THAT(testing::run_operation(*backward, {{Slot::diff_dst, {1, 2, 3, 4, 10, 20, 30, 40}}})
                    .at(Slot::diff_src),
                ElementsAre(33, 77));
  }
  EXPECT_EQ(make_operation(spec, testing::cpu())->algorithm(),
            make_operation(spec, testing::cpu(), "onednn")->algorithm());
}

TEST(ResizeOperation, RefusalsSayWhy) {
  const Resize spec{.src = {.n = 1, .c = 1, .h = 2, .w = 2}, .rows = {}, .columns = {}};
  expect_words(spec.invalid().value());
  const auto widened = [](std::int64_t to, double scale) {
    return Resize{.src = {.n = 1, .c = 1, .h = 1, .w = 2},
                  .rows = {},
                  .columns = ResizeAxis::of(Coordinates::half_pixel, 2, to, scale)}
        .invalid();
  };
  EXPECT_EQ(widened(Resize::kLongest, 2.5), std::nullopt);
  expect_words(widened(Resize::kLongest + 1, 2.5).value());
  expect_words(widened(1000, 500.000001).value());
}

}  // namespace
}  // namespace bench::kernels
