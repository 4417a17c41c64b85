// Pointwise functions and reductions on the CPU against the reference, and the reference's gradients against
// differences of its values.
#include "kernels/operations/array.h"

#include <gtest/gtest.h>

#include <cmath>

#include "array_cases.h"
#include "gradient_check.h"

namespace bench::kernels {
namespace {

using testing::Values;

constexpr std::array kFunctions{
    PointwiseFunction::add,        PointwiseFunction::subtract,      PointwiseFunction::multiply,
    PointwiseFunction::divide,     PointwiseFunction::power,         PointwiseFunction::maximum,
    PointwiseFunction::minimum,    PointwiseFunction::prelu,         PointwiseFunction::equal,
    PointwiseFunction::less,       PointwiseFunction::less_or_equal, PointwiseFunction::logical_and,
    PointwiseFunction::logical_or, PointwiseFunction::logical_xor,   PointwiseFunction::where};
constexpr std::array kReductions{
    ReduceFunction::sum,     ReduceFunction::mean,           ReduceFunction::maximum, ReduceFunction::minimum,
    ReduceFunction::product, ReduceFunction::sum_of_squares, ReduceFunction::l2};

class Arrays : public ::testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(All, Arrays, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// Where a power of a negative number is asked for the answer is none: both sides' values are made positive.
Values inputs_of(const Operation& operation, Dtype dtype, bool positive) {
  Values inputs = testing::inputs_for(operation, dtype);
  for (auto& [slot, values] : inputs) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = positive ? std::fabs(values[i]) + 0.5F : values[i];
      // Some zeros and equal elements, for logic and comparisons.
      values[i] = !positive && i % 3 == 0 ? (i % 2 == 0 ? 0.0F : 0.5F) : values[i];
    }
  }
  return inputs;
}

template <class Spec>
void expect_like_reference(const Spec& spec, Dtype dtype, bool positive, double tolerance) {
  const auto reference = make_operation(spec, testing::cpu(), "reference");
  const auto tested = make_operation(spec, testing::cpu(), "openmp");
  const Values inputs = inputs_of(*reference, dtype, positive);
  EXPECT_TRUE(testing::close_to(testing::run_operation(*reference, inputs),
                                testing::run_operation(*tested, inputs), tolerance));
}

TEST_P(Arrays, PointwiseIsLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const PointwiseFunction function : kFunctions) {
    const bool positive = function == PointwiseFunction::power || function == PointwiseFunction::divide;
    for (const auto& [name, spec] : testing::pointwise_cases(function, GetParam(), true)) {
      SCOPED_TRACE(name);
      const double tolerance = testing::tolerance_of(GetParam());
      expect_like_reference(spec, GetParam(), positive, tolerance);
      for (std::size_t index = 0; index < spec.inputs.size(); ++index) {
        Pointwise gradient = backward_of(spec);
        gradient.index = index;
        // A layer gives it the order of the dimensions then.
        const bool over_partial_blocks = spec.dst.layout == Layout::nchw16c && spec.dst.dims[1] % 16 != 0 &&
                                         spec.inputs[index].dims.elements() == 1;
        if (!gradient.invalid() && !over_partial_blocks) {
          SCOPED_TRACE(index);
          expect_like_reference(gradient, GetParam(), positive, 5 * tolerance);  // terms may cancel
        }
      }
    }
  }
}

TEST_P(Arrays, ReduceIsLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const ReduceFunction function : kReductions) {
    for (const auto& [name, spec] : testing::reduce_cases(function, GetParam(), true)) {
      if (function == ReduceFunction::product && spec.each() > 100) {
        continue;  // too near to 0 or beyond all bounds
      }
      SCOPED_TRACE(name);
      expect_like_reference(spec, GetParam(), true, testing::tolerance_of(GetParam()));
      if (!backward_of(spec).invalid()) {
        expect_like_reference(backward_of(spec), GetParam(), true, testing::tolerance_of(GetParam()));
      }
    }
  }
}

TEST(PointwiseReference, GradientsAreTheDifferencesOfValues) {
  for (const PointwiseFunction function : kFunctions) {
    const Pointwise spec{
        .function = function,
        .inputs = function == PointwiseFunction::where
                      ? std::vector<Array>{{.dims = {3, 1}}, {.dims = {4}}, {.dims = {2, 1, 4}}}
                      : std::vector<Array>{{.dims = {3, 1}}, {.dims = {2, 1, 4}}},
        .dst = {.dims = {2, 3, 4}}};
    const bool positive = function == PointwiseFunction::power || function == PointwiseFunction::divide;
    Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
    for (auto& [slot, values] : inputs) {
      for (float& value : values) {
        value = positive ? std::fabs(value) + 0.5F : value;
      }
    }
    for (std::size_t index = 0; index < spec.inputs.size(); ++index) {
      Pointwise gradient = backward_of(spec);
      gradient.index = index;
      if (gradient.invalid()) {
        continue;
      }
      SCOPED_TRACE(fmt::format("{} by input {}", name_of(function), index));
      Values given = inputs;
      given[Slot::diff_dst] =
          testing::inputs_for(*make_operation(gradient, testing::cpu(), "reference"), Dtype::fp32, 2)
              .at(Slot::diff_dst);
      const auto expected =
          testing::central_differences(spec, inputs, given.at(Slot::diff_dst), kSources[index], 1e-3F);
      EXPECT_LT(relative_error(testing::run_reference(gradient, given).at(Slot::diff_src), expected), 2e-3);
    }
  }
}

TEST(ReduceReference, GradientsAreTheDifferencesOfValues) {
  for (const ReduceFunction function : kReductions) {
    SCOPED_TRACE(name_of(function));
    const Reduce spec{.function = function, .src = {.dims = {2, 3, 4}}, .dst = {.dims = {2, 1, 4}}};
    Values inputs = testing::inputs_for(*make_operation(spec, testing::cpu(), "reference"), Dtype::fp32);
    const Reduce gradient = backward_of(spec);
    if (gradient.invalid()) {
      continue;
    }
    Values given = testing::inputs_for(*make_operation(gradient, testing::cpu(), "reference"), Dtype::fp32);
    given[Slot::src] = inputs.at(Slot::src);
    given[Slot::dst] = testing::run_reference(spec, inputs).at(Slot::dst);
    const auto expected =
        testing::central_differences(spec, inputs, given.at(Slot::diff_dst), Slot::src, 1e-3F);
    EXPECT_LT(relative_error(testing::run_reference(gradient, given).at(Slot::diff_src), expected), 2e-3);
  }
}

TEST(PointwiseReference, IsWhatItSays) {
  const auto run = [](PointwiseFunction function, float a, float b) {
    const Array one{.dims = {}};
    const Pointwise spec{.function = function, .inputs = {one, one}, .dst = one};
    return testing::run_reference(spec, {{Slot::src, {a}}, {Slot::src1, {b}}}).at(Slot::dst)[0];
  };
  using F = PointwiseFunction;
  EXPECT_EQ(run(F::subtract, 5, 3), 2);
  EXPECT_EQ(run(F::divide, 6, 3), 2);
  EXPECT_EQ(run(F::power, 2, 3), 8);
  EXPECT_EQ(run(F::maximum, 2, 3), 3);
  EXPECT_EQ(run(F::minimum, 2, 3), 2);
  EXPECT_EQ(run(F::prelu, -2, 3), -6);
  EXPECT_EQ(run(F::less, 2, 3), 1);
  EXPECT_EQ(run(F::less_or_equal, 4, 3), 0);
  EXPECT_EQ(run(F::logical_xor, 4, 3), 0);
}

// Every other channel, and blocks of 16 that meet at an odd place.
TEST(Nests, WalkEachElementOnce) {
  const Array blocks{.dims = {2, 37, 2, 3}, .layout = Layout::nchw16c};
  Walk shifted = Walk::over(blocks);
  shifted.from[1] = 5;
  const Array part{.dims = {2, 32, 2, 3}, .layout = Layout::nchw16c};
  std::vector<int> read(static_cast<std::size_t>(blocks.tensor().bytes() / 4), 0);
  std::vector<int> written(static_cast<std::size_t>(part.tensor().bytes() / 4), 0);
  for (const LoopNest& nest : nests(part.dims, std::array{Walk::over(part), shifted})) {
    const std::int64_t count = nest.elements();
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      std::array<std::int64_t, 2> at{nest.first[0], nest.first[1]};
      for (std::size_t loop = nest.loops.size(); loop-- > 0; rest /= nest.loops[loop].extent) {
        at[0] += rest % nest.loops[loop].extent * nest.loops[loop].steps[0];
        at[1] += rest % nest.loops[loop].extent * nest.loops[loop].steps[1];
      }
      ++written.at(static_cast<std::size_t>(at[0]));
      ++read.at(static_cast<std::size_t>(at[1]));
    }
  }
  EXPECT_EQ(std::ranges::count(written, 1), 2 * 32 * 2 * 3);
  for (std::int64_t c = 0; c < 37; ++c) {
    EXPECT_EQ(read[static_cast<std::size_t>(blocks.place({1, c, 1, 2}))], c < 5 ? 0 : 1) << c;
  }
}

TEST(Nests, PaddingIsWhatNoElementIs) {
  EXPECT_FALSE(padding_of({.dims = {2, 32, 2, 3}, .layout = Layout::nchw16c}));
  EXPECT_FALSE(padding_of({.dims = {2, 5, 2, 3}, .layout = Layout::nhwc}));
  const auto padding = padding_of({.dims = {2, 37, 2, 3}, .layout = Layout::nchw16c});
  ASSERT_TRUE(padding);
  EXPECT_EQ(padding->elements(), 2 * 11 * 6);
  EXPECT_EQ(padding->first[0], 2 * 16 * 6 + 5);
}

}  // namespace
}  // namespace bench::kernels
