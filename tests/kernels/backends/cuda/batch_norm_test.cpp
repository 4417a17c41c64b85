// Batch norm on fibers: channels that fill an access and odd ones, more of them than a block is wide, few
// rows and several chunks.
#include <array>

#include <fmt/format.h>

#include "kernels/operations/batch_norm/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::few_under_thread_sanitizer;
using testing::RunOptions;

struct BatchNormShape {
  std::int64_t n, c, h, w;
};

constexpr std::array kBatchNormShapes{BatchNormShape{1, 1, 1, 1},   BatchNormShape{2, 3, 5, 7},
                                      BatchNormShape{1, 8, 1, 1},   BatchNormShape{3, 24, 9, 5},
                                      BatchNormShape{1, 67, 3, 3},  BatchNormShape{2, 512, 2, 3},
                                      BatchNormShape{5, 16, 31, 17}};

template <class Visit>
void for_each_batch_norm(Visit visit) {
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const BatchNormShape& shape : kBatchNormShapes) {
      for (const std::int64_t offset : few_under_thread_sanitizer(std::array{4, 0})) {
        SCOPED_TRACE(fmt::format("{} {}x{}x{}x{} {} bytes off", name_of(dtype), shape.n, shape.c, shape.h,
                                 shape.w, offset));
        visit(TensorDesc{shape.n, shape.c, shape.h, shape.w, Layout::nhwc, dtype},
              RunOptions{.offset = offset});
      }
    }
  }
}

TEST(CudaBatchNorm, InfersLikeItsReference) {
  for_each_batch_norm([](const TensorDesc& tensor, const RunOptions& options) {
    for (const Activation activation : {Activation::none, Activation::relu, Activation::relu6}) {
      expect_like_reference<cuda::BatchNormOperation>({.tensor = tensor, .activation = activation},
                                                      tensor.dtype, options);
    }
  });
}

TEST(CudaBatchNorm, TrainsLikeItsReference) {
  for_each_batch_norm([](const TensorDesc& tensor, const RunOptions& options) {
    for (const Activation activation : {Activation::none, Activation::leaky_relu}) {
      expect_like_reference<cuda::BatchNormOperation>(
          {.tensor = tensor, .training = true, .activation = activation}, tensor.dtype, options);
    }
  });
}

TEST(CudaBatchNormBackward, IsLikeItsReference) {
  for_each_batch_norm([](const TensorDesc& tensor, const RunOptions& apart) {
    RunOptions in_place = apart;
    in_place.in_place = {{Slot::diff_src, Slot::diff_dst}};
    for (const Activation activation :
         {Activation::none, Activation::relu, Activation::relu6, Activation::leaky_relu}) {
      const BatchNorm spec = backward_of(BatchNorm{.tensor = tensor, .activation = activation});
      expect_like_reference<cuda::BatchNormOperation>(spec, tensor.dtype, apart);
      expect_like_reference<cuda::BatchNormOperation>(spec, tensor.dtype, in_place);
    }
  });
}

// More chunks than a thread reads at once, the last one smaller, means far above their distances: they are
// 1e-3 exact in fp32.
TEST(CudaBatchNorm, JoinsManyChunks) {
  constexpr std::int64_t kChannels = 9;
  const cuda::Tiling tiling = cuda::Tiling::of(100'000, kChannels, 700);
  ASSERT_EQ(tiling.chunks, 521U);
  ASSERT_LT(tiling.rows_of(520), tiling.rows_of(0));
  std::vector<float> partial(tiling.chunks * 2 * kChannels);
  fill_random(partial, 1, 0);
  for (std::uint32_t chunk = 0; chunk < tiling.chunks; ++chunk) {
    for (std::int64_t c = 0; c < kChannels; ++c) {
      partial[chunk * 2 * kChannels + c] += 10000.0F;
      float& squares = partial[(chunk * 2 + 1) * kChannels + c];
      squares = std::fabs(squares);
    }
  }
  std::vector<float> mean(kChannels);
  std::vector<float> variance(kChannels);
  std::vector<float> means(kChannels);
  std::vector<float> squares(kChannels);
  const testing::FiberQueue queue(testing::cpu());
  queue.launch(cuda::JoinMoments{tiling, partial.data(), kChannels, mean.data(), variance.data()},
               cuda::ChunkJoin::blocks(kChannels));
  queue.launch(cuda::FinishSums<2>{partial.data(), kChannels, tiling.chunks, {means.data(), squares.data()}},
               cuda::FinishSums<2>::blocks(kChannels));
  for (std::int64_t c = 0; c < kChannels; ++c) {
    double sum = 0;
    double plain = 0;
    double within = 0;
    const auto each = [&](auto visit) {
      for (std::uint32_t chunk = 0; chunk < tiling.chunks; ++chunk) {
        visit(double{partial[chunk * 2 * kChannels + c]}, chunk);
        within += double{partial[(chunk * 2 + 1) * kChannels + c]};
      }
    };
    each([&](double value, std::uint32_t chunk) {
      sum += value * tiling.rows_of(chunk);
      plain += value;
    });
    EXPECT_NEAR(means[c] / plain, 1, 1e-6);
    EXPECT_NEAR(squares[c] / within, 1, 1e-6);
    const double expected = sum / tiling.rows;
    double distances = 0;
    each([&](double value, std::uint32_t chunk) {
      distances += (value - expected) * (value - expected) * tiling.rows_of(chunk);
    });
    EXPECT_NEAR(mean[c], expected, 1e-3);
    EXPECT_NEAR(variance[c] / ((distances + within / 2) / tiling.rows), 1, 1e-3);
  }
}

// A mean far above the deviation: squares less the mean's square would keep no digit of the variance. Means
// in fp32 are 1e-3 exact here, next to a deviation of 0.58.
TEST(CudaBatchNorm, KeepsTheVarianceOfValuesFarFromZero) {
  const TensorDesc tensor{.n = 3, .c = 4, .h = 33, .w = 29};
  const auto operation = testing::on_fibers<cuda::BatchNormOperation>({.tensor = tensor, .training = true});
  std::vector<float> src(static_cast<std::size_t>(tensor.elements()));
  fill_random(src, 3, 0);
  for (float& value : src) {
    value += 10000.0F;
  }
  testing::Bytes stored(static_cast<std::size_t>(tensor.bytes()));
  store(tensor, src, stored.data());
  const RunOptions options{.opaque = {{Slot::src, stored}}};
  const auto reference =
      make_operation(BatchNorm{.tensor = tensor, .training = true}, testing::cpu(), "reference");
  auto expected = testing::run_exactly(*reference, Dtype::fp32, options);
  auto answer = testing::run_exactly(*operation, Dtype::fp32, options);
  testing::expect_close(*reference, {{Slot::variance, expected.at(Slot::variance)}}, answer, 1e-3);
  testing::expect_close(*reference, {{Slot::mean, expected.at(Slot::mean)}}, answer, 1e-7);
}

}  // namespace
}  // namespace bench::kernels
