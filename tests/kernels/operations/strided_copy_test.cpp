// Strided copies on the CPU against the reference; the reference against values written down.
#include "kernels/operations/strided_copy/strided_copy.h"

#include <gmock/gmock.h>

#include "gradient_check.h"
#include "strided_copy_cases.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using testing::copy_cases;
using testing::CopyCase;

bool repeats(const StridedCopy& spec) {
  StridedCopy gradient = backward_of(spec);
  return gradient.invalid().has_value();
}

class Copies : public ::testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(All, Copies, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(Copies, AreLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const auto& [name, spec] : copy_cases(GetParam(), true)) {
    SCOPED_TRACE(name);
    testing::expect_like_reference(spec, GetParam(), 0.0);
    for (std::size_t index = 0; index < spec.parts.size() && !repeats(spec); ++index) {
      StridedCopy gradient = backward_of(spec);
      gradient.index = index;
      // Where a border was repeated, sums are rounded several times.
      testing::expect_like_reference(gradient, GetParam(), 2 * testing::tolerance_of(GetParam()));
    }
  }
}

TEST(StridedCopyReference, TheGradientIsThatOfWhatWasCopied) {
  for (const auto& [name, spec] : copy_cases(Dtype::fp32, true)) {
    for (std::size_t index = 0; index < spec.parts.size() && !repeats(spec); ++index) {
      SCOPED_TRACE(name);
      StridedCopy gradient = backward_of(spec);
      gradient.index = index;
      const auto inputs =
          testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
      auto diff = testing::inputs_for(*make_operation(gradient, testing::cpu(), "reference"), Dtype::fp32, 2);
      // Σ dst · diff_dst is linear in the input but for what `value` adds: two inputs tell both.
      const auto objective = [&](const testing::Values& at) {
        const auto dst = testing::run_reference(spec, at).at(Slot::dst);
        double sum = 0;
        for (std::size_t i = 0; i < dst.size(); ++i) {
          sum += static_cast<double>(dst[i]) * diff.at(Slot::diff_dst)[i];
        }
        return sum;
      };
      testing::Values moved = inputs;
      testing::Values none = inputs;
      const auto diff_src = testing::run_reference(gradient, diff).at(Slot::diff_src);
      double expected = 0;
      for (std::size_t i = 0; i < diff_src.size(); ++i) {
        expected += static_cast<double>(diff_src[i]) * inputs.at(kSources[index])[i];
        none[kSources[index]][i] = 0;
      }
      EXPECT_NEAR(objective(moved) - objective(none), expected, 1e-4);
    }
  }
}

TEST(StridedCopyReference, IsWhatItSays) {
  const auto run = [](const StridedCopy& spec, std::vector<float> src) {
    return testing::run_reference(spec, {{Slot::src, std::move(src)}}).at(Slot::dst);
  };
  const Array row{.dims = {4}};
  using Outside = StridedCopy::Outside;
  EXPECT_THAT(run(testing::padded(row, 2, 1, Outside::value, 9), {1, 2, 3, 4}),
              ::testing::ElementsAre(9, 9, 1, 2, 3, 4, 9));
  EXPECT_THAT(run(testing::padded(row, 2, 1, Outside::edge), {1, 2, 3, 4}),
              ::testing::ElementsAre(1, 1, 1, 2, 3, 4, 4));
  EXPECT_THAT(run(testing::padded(row, 2, 1, Outside::reflect), {1, 2, 3, 4}),
              ::testing::ElementsAre(3, 2, 1, 2, 3, 4, 3));
  EXPECT_THAT(run(testing::transposed({.dims = {2, 3}}, {1, 0}), {1, 2, 3, 4, 5, 6}),
              ::testing::ElementsAre(1, 4, 2, 5, 3, 6));
}

// As torch.nn.functional.pad(x, [diffX // 2, diffX - diffX // 2, …]): the odd row is below, the column right.
TEST(StridedCopy, CentresTheSmallerMap) {
  const StridedCopy spec = testing::joined({{.dims = {1, 1, 2, 3}}, {.dims = {1, 1, 1, 2}}}, 1, Layout::nchw);
  const testing::Values inputs{{Slot::src, {1, 2, 3, 4, 5, 6}}, {Slot::src1, {7, 8}}};
  for (const char* implementation : {"reference", "openmp"}) {
    EXPECT_THAT(
        testing::run_operation(*make_operation(spec, testing::cpu(), implementation), inputs).at(Slot::dst),
        ::testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0));
  }
}

TEST(StridedCopy, WritesEachElementOnce) {
  for (const auto& [name, spec] : testing::copy_cases(Dtype::fp32, true)) {
    const CopySteps all = steps_of(spec);
    std::int64_t written = 0;
    for (const LoopNest& nest : all.value) {
      written += nest.elements();
    }
    for (const CopySteps::Step& step : all.steps) {
      written += step.nest.elements();
    }
    EXPECT_EQ(written, spec.dst.dims.elements()) << name;
  }
}

TEST(StridedCopy, KnowsWhereWholePixelsAreCopied) {
  const auto map = [](std::int64_t c, std::int64_t h, std::int64_t w, Layout layout = Layout::nhwc) {
    return Array{.dims = {2, c, h, w}, .layout = layout};
  };
  EXPECT_TRUE(testing::joined({map(3, 4, 5), map(2, 1, 9)}, 1, Layout::nhwc).is_of_whole_pixels());
  EXPECT_FALSE(testing::joined({map(3, 4, 5), map(3, 4, 5)}, 2, Layout::nhwc).is_of_whole_pixels());
  EXPECT_FALSE(
      testing::joined({map(3, 4, 5), map(2, 4, 5, Layout::nchw)}, 1, Layout::nhwc).is_of_whole_pixels());
  StridedCopy padded = testing::padded(map(3, 4, 5), 2, 1, StridedCopy::Outside::value);
  EXPECT_TRUE(padded.is_of_whole_pixels());
  padded.value = 1;
  EXPECT_FALSE(padded.is_of_whole_pixels());
  padded = testing::padded(map(3, 4, 5), 2, 1, StridedCopy::Outside::edge);
  EXPECT_FALSE(padded.is_of_whole_pixels());
  StridedCopy cut = testing::joined({map(3, 4, 5), map(3, 4, 5)}, 1, Layout::nhwc);
  --cut.parts[1].axes[1].start;  // its last channel lies outside
  EXPECT_FALSE(cut.is_of_whole_pixels());
  StridedCopy slice = StridedCopy::reorder(map(8, 4, 5), map(4, 4, 5));
  EXPECT_FALSE(slice.is_of_whole_pixels());
  EXPECT_FALSE(testing::transposed(map(5, 5, 5), {0, 1, 3, 2}, Layout::nhwc).is_of_whole_pixels());
}

TEST(StridedCopy, KnowsWhatIsTheSameMemory) {
  const Array maps{.dims = {2, 5, 4, 3}, .layout = Layout::nhwc};
  EXPECT_TRUE(testing::transposed(maps, {0, 2, 3, 1}).is_the_same_memory());
  EXPECT_FALSE(testing::transposed(maps, {0, 2, 3, 1}, Layout::nhwc).is_the_same_memory());
  EXPECT_FALSE(testing::transposed(maps, {0, 1, 2, 3}).is_the_same_memory());
  EXPECT_TRUE(testing::transposed({.dims = {2, 1, 7}}, {1, 0, 2}).is_the_same_memory());
  const Array pixel{.dims = {2, 32, 1, 1}, .layout = Layout::nchw16c};
  EXPECT_TRUE(StridedCopy::reorder(pixel, {.dims = pixel.dims}).is_the_same_memory());
  const Array padded{.dims = {2, 33, 1, 1}, .layout = Layout::nchw16c};
  EXPECT_FALSE(StridedCopy::reorder(padded, {.dims = padded.dims}).is_the_same_memory());
  StridedCopy first = StridedCopy::reorder({.dims = {8}}, {.dims = {4}});
  EXPECT_FALSE(first.is_the_same_memory());
}

TEST(StridedCopy, RefusesWhatItCannotDo) {
  const auto refusal = [](const StridedCopy& spec) { return spec.invalid().value_or(""); };
  const Array row{.dims = {4}};
  expect_words(refusal({.parts = {}, .dst = row}));
  expect_words(refusal(testing::padded(row, 4, 0, StridedCopy::Outside::reflect)));
  expect_words(refusal(StridedCopy::reorder({.dims = {0}}, row)));
  StridedCopy repeated = StridedCopy::reorder(row, row);
  repeated.parts[0].axes[0].step = 0;
  EXPECT_EQ(refusal(repeated), "");
  expect_words(refusal(backward_of(repeated)));
}

}  // namespace
}  // namespace bench::kernels
