// Gathering along a dimension: the loops against the reference, the reference against differences.
#include "kernels/operations/gather/gather.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "gradient_check.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using testing::Values;

std::vector<Gather> gathers(Dtype dtype) {
  std::vector<std::int32_t> many;
  for (std::int32_t i = 0; i < 700; ++i) {
    many.push_back(i * 31 % 50);
  }
  return {{.extent = 5, .indices = {4}, .dtype = dtype},
          {.outer = 3, .extent = 4, .inner = 7, .indices = {2, 0, 2, 2}, .dtype = dtype},
          {.outer = 2, .extent = 50, .inner = 65, .indices = many, .dtype = dtype}};
}

class Gathers : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, Gathers, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(Gathers, BothPassesAreLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Gather& spec : gathers(GetParam())) {
    SCOPED_TRACE(fmt::format("{} of {} x {}", spec.count(), spec.extent, spec.inner));
    testing::expect_like_reference(spec, GetParam(), 0.0);
    testing::expect_like_reference(backward_of(spec), GetParam(), testing::tolerance_of(GetParam()));
  }
}

TEST(Gather, TakesElementsInTheOrderOfTheList) {
  const Gather spec{.outer = 2, .extent = 3, .indices = {2, 0, 2}};
  for (const char* implementation : {"reference", "openmp"}) {
    const auto forward = make_operation(spec, testing::cpu(), implementation);
    EXPECT_THAT(testing::run_operation(*forward, {{Slot::src, {1, 2, 3, 4, 5, 6}}}).at(Slot::dst),
                ElementsAre(3, 1, 3, 6, 4, 6));
    const auto backward = make_operation(backward_of(spec), testing::cpu(), implementation);
    EXPECT_THAT(testing::run_operation(*backward, {{Slot::diff_dst, {1, 2, 3, 4, 5, 6}}}).at(Slot::diff_src),
                ElementsAre(2, 0, 4, 5, 0, 10));
  }
}

TEST(Gather, RefusalsSayWhy) {
  expect_words(Gather{.extent = 3, .indices = {3}}.invalid().value());
}

}  // namespace
}  // namespace bench::kernels
