// Softmax cross-entropy: the reference by hand and against central differences, our own against it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using testing::Values;

enum class GradientPlace { apart, in_place };  // in_place: diff_src is the same memory as src

Values run(const CrossEntropy& spec, std::string_view implementation, const std::vector<float>& logits,
           const std::vector<std::int32_t>& labels, GradientPlace gradient = GradientPlace::apart) {
  const auto operation = make_operation(spec, testing::cpu(), implementation);
  operation->prepare();
  std::map<Slot, Buffer> buffers;
  SlotPointers pointers;
  for (const SlotInfo& slot : operation->slots()) {
    buffers[slot.slot] = testing::cpu().allocate(slot.bytes, MemoryCategory::other);
    pointers[slot.slot] = buffers[slot.slot].data();
    testing::cpu().fill(pointers[slot.slot], std::byte{0xff}, slot.bytes);
  }
  if (gradient == GradientPlace::in_place) {
    pointers[Slot::diff_src] = pointers[Slot::src];
  }
  EXPECT_EQ(operation->find(Slot::labels)->bytes, 4 * spec.rows);
  testing::cpu().upload(pointers[Slot::labels], labels.data(), operation->find(Slot::labels)->bytes);
  store(spec.tensor(), logits, pointers[Slot::src]);
  operation->run(pointers);
  testing::cpu().synchronize();
  Values out{{Slot::loss, {0}}, {Slot::diff_src, std::vector<float>(logits.size())}};
  operation->unpack(Slot::loss, pointers[Slot::loss], out[Slot::loss]);
  load(spec.tensor(), pointers[Slot::diff_src], out[Slot::diff_src]);
  return out;
}

std::vector<float> random_logits(const CrossEntropy& spec, float largest) {
  std::vector<float> logits(static_cast<std::size_t>(spec.rows * spec.classes));
  fill_random(logits, 3, 0);
  std::ranges::transform(logits, logits.begin(), [&](float value) { return value * largest; });
  return logits;
}

std::vector<std::int32_t> spread_labels(const CrossEntropy& spec) {
  std::vector<std::int32_t> labels;
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    labels.push_back(static_cast<std::int32_t>((row * 7 + 3) % spec.classes));
  }
  return labels;
}

// Each row by itself, so that a wrong one is not lost among large ones.
void expect_like_reference(const CrossEntropy& spec, const std::vector<float>& logits,
                           const std::vector<std::int32_t>& labels) {
  const Values expected = run(spec, "reference", logits, labels);
  for (const GradientPlace gradient : {GradientPlace::apart, GradientPlace::in_place}) {
    const Values answer = run(spec, "openmp", logits, labels, gradient);
    EXPECT_LE(relative_error(answer.at(Slot::loss), expected.at(Slot::loss)), 1e-6);
    for (std::int64_t row = 0; row < spec.rows; ++row) {
      const auto of = [&](const Values& values) {
        return std::span(values.at(Slot::diff_src))
            .subspan(static_cast<std::size_t>(row * spec.classes), static_cast<std::size_t>(spec.classes));
      };
      EXPECT_LE(relative_error(of(answer), of(expected)), testing::tolerance_of(spec.dtype)) << "row " << row;
    }
  }
}

class CrossEntropyLoss : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, CrossEntropyLoss, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(CrossEntropyLoss, IsLikeItsReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const auto& [rows, classes] :
       {std::pair{1, 10}, {1, 1}, {3, 1}, {1, 2}, {7, 33}, {16, 1000}, {129, 101}}) {
    for (const float largest : {0.01F, 3.0F, 60.0F}) {
      SCOPED_TRACE(fmt::format("{} rows of {}, up to {}", rows, classes, largest));
      const CrossEntropy spec{
          .rows = rows, .classes = classes, .scale = 1.0F / static_cast<float>(rows), .dtype = GetParam()};
      expect_like_reference(spec, random_logits(spec, largest), spread_labels(spec));
    }
  }
}

TEST_P(CrossEntropyLoss, LeavesOutRowsWhoseLabelIsOutOfRange) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  const CrossEntropy spec{.rows = 4, .classes = 5, .dtype = GetParam()};
  const std::vector<float> logits = random_logits(spec, 2.0F);
  const std::vector<std::int32_t> labels{4, -1, 5, 0};
  expect_like_reference(spec, logits, labels);
  for (const std::string_view implementation : {"reference", "openmp"}) {
    const Values out = run(spec, implementation, logits, labels);
    EXPECT_THAT(std::vector(out.at(Slot::diff_src).begin() + 5, out.at(Slot::diff_src).begin() + 15),
                Each(0.0F));
    std::vector<float> valid(logits.begin(), logits.begin() + 5);
    valid.insert(valid.end(), logits.begin() + 15, logits.end());
    const Values alone = run({.rows = 2, .classes = 5, .dtype = GetParam()}, implementation, valid, {4, 0});
    EXPECT_EQ(out.at(Slot::loss), alone.at(Slot::loss));
  }
}

TEST_P(CrossEntropyLoss, TakesExtremeLogits) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  const CrossEntropy spec{.rows = 2, .classes = 3, .dtype = GetParam()};
  // 10000 is 9984 in bf16: powers of two are the same in both.
  const std::vector<float> logits{8192, -8192, 0, -8192, 8192, 8192};
  for (const std::string_view implementation : {"reference", "openmp"}) {
    const Values wrong = run(spec, implementation, logits, {1, 0});
    // Both rows 16384 off; the second has two largest classes, and loses ln 2 more.
    EXPECT_NEAR(wrong.at(Slot::loss)[0], 2 * 16384 + std::log(2.0), 2e-3);
    EXPECT_EQ(wrong.at(Slot::diff_src), (std::vector<float>{1, -1, 0, -1, 0.5, 0.5}));
    const Values right = run(spec, implementation, logits, {0, 2});
    EXPECT_NEAR(right.at(Slot::loss)[0], std::log(2.0), 1e-6);
    EXPECT_EQ(right.at(Slot::diff_src), (std::vector<float>{0, 0, 0, 0, 0.5, -0.5}));
  }
}

TEST(CrossEntropyLoss, TakesTenThousandBothWays) {
  const CrossEntropy spec{.rows = 3, .classes = 4};
  const std::vector<float> logits{1e4F, -1e4F, 1e4F, 0, -1e4F, -1e4F, -1e4F, -1e4F, 1e4F, 1e4F, 1e4F, 1e4F};
  expect_like_reference(spec, logits, {1, 3, 0});
  EXPECT_NEAR(run(spec, "openmp", logits, {1, 3, 0}).at(Slot::loss)[0],
              2e4 + std::log(2.0) + 2 * std::log(4.0), 2e-3);
}

TEST(CrossEntropyLoss, OfEqualLogitsIsTheLogarithmOfTheirNumber) {
  const CrossEntropy spec{.rows = 2, .classes = 1000, .scale = 0.5F};
  for (const std::string_view implementation : {"reference", "openmp"}) {
    for (const float level : {0.0F, 1e4F, -1e4F}) {
      const Values out = run(spec, implementation, std::vector<float>(2000, level), {0, 999});
      EXPECT_NEAR(out.at(Slot::loss)[0], std::log(1000.0), 1e-5);
      std::vector<float> diff = out.at(Slot::diff_src);
      EXPECT_FLOAT_EQ(diff.front(), -0.4995F);
      EXPECT_FLOAT_EQ(diff.back(), -0.4995F);
      diff.front() = diff.back() = 0.0005F;
      EXPECT_THAT(diff, Each(FloatNear(0.0005F, 1e-9F)));
    }
  }
}

TEST(CrossEntropyLoss, KeepsTheGradientOfAConfidentRow) {
  const CrossEntropy spec{.rows = 1, .classes = 2};
  for (const std::string_view implementation : {"reference", "openmp"}) {
    // p of the other class is e^-20, below the spacing of fp32 at 1.
    const Values out = run(spec, implementation, {20, 0}, {0});
    EXPECT_THAT(out.at(Slot::diff_src)[0], FloatNear(-2.0611536e-9F, 1e-14F));
    EXPECT_THAT(out.at(Slot::diff_src)[1], FloatNear(2.0611536e-9F, 1e-14F));
    EXPECT_THAT(out.at(Slot::loss)[0], FloatNear(2.0611536e-9F, 1e-14F));
  }
}

TEST(CrossEntropyReference, GradientIsTheDifferenceOfLosses) {
  const CrossEntropy spec{.rows = 3, .classes = 5, .scale = 0.75F};
  const std::vector<float> logits = random_logits(spec, 2.0F);
  const std::vector<std::int32_t> labels{4, 0, 2};
  std::vector<float> differences;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    constexpr float kStep = 0x1p-6F;
    std::vector<float> up = logits;
    std::vector<float> down = logits;
    up[i] += kStep;
    down[i] -= kStep;
    const float rise = run(spec, "reference", up, labels).at(Slot::loss)[0] -
                       run(spec, "reference", down, labels).at(Slot::loss)[0];
    differences.push_back(rise / (up[i] - down[i]));
  }
  // The loss is near 4 and rounded to fp32: 2e-7 over twice the step is 1e-5.
  EXPECT_LT(relative_error(run(spec, "reference", logits, labels).at(Slot::diff_src), differences), 1e-4);
}

}  // namespace
}  // namespace bench::kernels
