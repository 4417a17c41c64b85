// Our own kernels at the two ends of a network on a GPU, against the reference: what images and tokens
// become, the loss, and the optimizer's step.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/embedding/embedding.h"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "kernels/operations/optimizer/optimizer.h"
#include "on_cuda.h"

namespace bench::kernels {
namespace {

using testing::Bytes;
using testing::RunOptions;

class TrainingKernels : public ::testing::TestWithParam<Dtype> {
 protected:
  template <class Spec>
  static void expect_right(const Spec& spec, const RunOptions& options) {
    testing::expect_stored_like_reference_on_cuda(spec, GetParam(), "cuda", options);
  }
};

INSTANTIATE_TEST_SUITE_P(All, TrainingKernels, ::testing::ValuesIn(kAllDtypes),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// One for each row out of [0, count), and now and then one beyond.
Bytes numbers_below(std::int64_t count, std::int64_t rows) {
  std::vector<std::int32_t> numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    numbers.push_back(static_cast<std::int32_t>(row % 13 == 9   ? count
                                                : row % 11 == 7 ? -1
                                                                : row * 31 % count));
  }
  Bytes stored(numbers.size() * sizeof numbers[0]);
  std::memcpy(stored.data(), numbers.data(), stored.size());
  return stored;
}

TEST_P(TrainingKernels, StepLikeTheReference) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  if (GetParam() == Dtype::tf32) {
    GTEST_SKIP() << "parameters are not stored in tf32";
  }
  for (const auto kind : {Optimizer::Kind::sgd, Optimizer::Kind::momentum, Optimizer::Kind::adam}) {
    for (const std::int64_t count : {1, 8, 263, 1'000'003}) {
      SCOPED_TRACE(fmt::format("kind {} count {}", static_cast<int>(kind), count));
      // States above zero: a second one below would have no root.
      expect_right(Optimizer{.kind = kind, .count = count, .dtype = GetParam()},
                   {.positive = true, .runs = 3});
    }
  }
}

TEST_P(TrainingKernels, LoseLikeTheReference) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const std::int64_t classes : {2, 10, 100, 1000, 5003}) {
    SCOPED_TRACE(classes);
    RunOptions options{.opaque = {{Slot::labels, numbers_below(classes, 300)}}};
    const CrossEntropy spec{.rows = 300, .classes = classes, .scale = 0.25F, .dtype = GetParam()};
    expect_right(spec, options);
    options.in_place = {{Slot::diff_src, Slot::src}};
    expect_right(spec, options);
  }
}

Bytes stored(const LossScale& scale) {
  Bytes bytes(sizeof scale);
  std::memcpy(bytes.data(), &scale, sizeof scale);
  return bytes;
}

// Large enough for several blocks; with one gradient that is infinite, or none.
TEST_P(TrainingKernels, ScaleTheLossLikeTheReference) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  if (GetParam() == Dtype::tf32) {
    GTEST_SKIP() << "parameters are not stored in tf32";
  }
  constexpr std::int64_t kCount = 1'000'003;
  const TensorDesc row{.n = 1, .c = kCount, .dtype = GetParam()};
  for (const float odd : {2.0F, std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(kCount, 1.0F);
    values[kCount / 2] = odd;
    Bytes gradient(static_cast<std::size_t>(row.bytes()));
    store(row, values, gradient.data());
    for (const std::int32_t overflow : {0, 1}) {
      SCOPED_TRACE(fmt::format("gradient {}, overflow {}", odd, overflow));
      const Bytes scale = stored({.factor = 8, .overflow = overflow, .good_steps = 3});
      expect_right(FindOverflow{.count = kCount, .dtype = GetParam()},
                   {.opaque = {{Slot::diff_weights, gradient}, {Slot::loss_scale, scale}}});
      expect_right(UpdateLossScale{}, {.opaque = {{Slot::loss_scale, scale}}, .runs = 2});
      expect_right(
          Optimizer{.kind = Optimizer::Kind::adam, .count = 263, .dtype = GetParam(), .scaled = true},
          {.opaque = {{Slot::loss_scale, scale}}, .positive = true, .runs = 2});
    }
  }
}

TEST_P(TrainingKernels, LookUpLikeTheReference) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const std::int64_t rows : {1, 100, 1024, 65536}) {
    for (const std::int64_t width : {1, 6, 24, 768}) {
      if (rows > 1024 && width != 24) {
        continue;  // the reference takes long
      }
      SCOPED_TRACE(fmt::format("{} tokens, width {}", rows, width));
      Embedding spec{.rows = rows, .vocabulary = 203, .width = width, .dtype = GetParam()};
      const RunOptions options{.opaque = {{Slot::src, numbers_below(spec.vocabulary, rows)}}};
      expect_right(spec, options);
      spec.direction = Direction::backward;
      expect_right(spec, options);
      spec.add = true;
      expect_right(spec, options);
    }
  }
}

}  // namespace
}  // namespace bench::kernels
