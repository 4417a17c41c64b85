// Batches of more elements than a kernel counts, in parts: on a machine whose kernels count to few.
#include "kernels/backends/cuda/parted_operation.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernels/operations/conv2d/implicit_gemm.cu"
#include "kernels/operations/embedding/cuda.cu"
#include "kernels/operations/pool/cuda.cu"
#include "kernels/operations/resize/cuda.cu"
#include "on_fibers.h"
#include "tests/kernels/operations/resize_cases.h"

namespace bench::kernels {
namespace {

struct FewFibers : testing::Fibers {
  static constexpr std::int64_t kMostCounted = 3000;
};

using cuda::Parts;
using cuda::parts_of;

template <template <class> class Op>
void expect_right_in_parts(const typename Op<FewFibers>::Spec& spec, Dtype dtype,
                           const testing::RunOptions& options = {}) {
  const auto operation = testing::on_fibers<Op, FewFibers>(spec);
  EXPECT_NE(dynamic_cast<const cuda::PartedOperation*>(operation.get()), nullptr) << "nothing is tested";
  testing::expect_like_reference<Op, FewFibers>(spec, dtype, options);
}

TEST(Parts, AreOneWhereTheBatchIsSmallEnough) {
  EXPECT_EQ(parts_of(1, 100, 100), (Parts{1, 1, 0}));
  EXPECT_EQ(parts_of(16, 100, 1600), (Parts{16, 1, 0}));
  EXPECT_EQ(parts_of(1 << 20, 0, 100), (Parts{1 << 20, 1, 0}));
  EXPECT_TRUE(parts_of(16, 100, 1600).is_whole());
}

// Each begins at a multiple of 16 samples, and has no more elements than are counted.
TEST(Parts, AreAlikeAndCoverTheBatch) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  EXPECT_EQ(parts_of(2675, 112 * 112 * 64, kMost), (Parts{1344, 1, 1331}));
  for (const std::int64_t elements : {1LL, 7LL, 1000LL, 802816LL, 33554432LL, 500000000LL}) {
    for (const std::int64_t samples : {1LL, 17LL, 64LL, 2675LL, 100003LL, 5'000'000'000LL}) {
      const Parts parts = parts_of(samples, elements, kMost);
      SCOPED_TRACE(fmt::format("{} samples of {}", samples, elements));
      EXPECT_EQ(parts.each * parts.count + parts.rest, samples);
      EXPECT_LE(parts.each * elements, kMost);
      EXPECT_LT(parts.rest, parts.each);
      EXPECT_TRUE(parts.is_whole() || parts.each % 16 == 0 || kMost / elements < 16);
    }
  }
}

TEST(Parts, AreSingleSamplesWhereOneHasMore) {
  EXPECT_EQ(parts_of(3, 200, 100), (Parts{1, 3, 0}));
}

TEST(PartedPool, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t channels : {3, 8}) {
      SCOPED_TRACE(fmt::format("{} {} channels", name_of(dtype), channels));
      const Pool average{.src = {.n = 37, .c = channels, .h = 5, .w = 7, .dtype = dtype},
                         .kind = Pool::Kind::average,
                         .kernel_h = 3,
                         .kernel_w = 2,
                         .stride_h = 2,
                         .stride_w = 1,
                         .pad_h = 1};
      expect_right_in_parts<cuda::PoolOperation>(average, dtype);
      expect_right_in_parts<cuda::PoolOperation>(backward_of(average), dtype);
      const Pool adaptive{.src = average.src, .kind = Pool::Kind::adaptive, .height = 2, .width = 3};
      expect_right_in_parts<cuda::PoolOperation>(adaptive, dtype);
      expect_right_in_parts<cuda::PoolOperation>(backward_of(adaptive), dtype);
    }
  }
}

// What the forward pass saves is opaque, and lies a sample after the other too.
TEST(PartedPool, SendsGradientsToTheMaxima) {
  const Pool pool{.src = {.n = 37, .c = 5, .h = 9, .w = 7},
                  .kernel_h = 3,
                  .kernel_w = 3,
                  .stride_h = 2,
                  .stride_w = 2,
                  .pad_h = 1,
                  .pad_w = 1,
                  .training = true};
  const auto gradients = [&]<class Machine>() {
    auto saved = testing::run_exactly(*testing::on_fibers<cuda::PoolOperation, Machine>(pool), Dtype::fp32);
    return testing::run_exactly(*testing::on_fibers<cuda::PoolOperation, Machine>(backward_of(pool)),
                                Dtype::fp32, {.opaque = {{Slot::saved, saved.at(Slot::saved)}}});
  };
  EXPECT_EQ(gradients.operator()<FewFibers>(), gradients.operator()<testing::Fibers>());
}

TEST(PartedCopies, AreLikeTheReference) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    for (const std::int64_t channels : {3, 8}) {
      SCOPED_TRACE(fmt::format("{} {} channels", name_of(dtype), channels));
      const TensorDesc large{37, channels, 5, 7, Layout::nhwc, dtype};
      expect_right_in_parts<cuda::ResizeOperation>(testing::repeated(large, 2), dtype);
      expect_right_in_parts<cuda::ResizeOperation>(backward_of(testing::repeated(large, 2)), dtype);
    }
  }
}

TEST(PartedEmbedding, IsLikeItsReference) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    const Embedding tokens{.rows = 500, .vocabulary = 23, .width = 24, .dtype = dtype};
    testing::Bytes named(static_cast<std::size_t>(tokens.token_bytes()));
    for (std::int32_t row = 0; row < 500; ++row) {
      const std::int32_t token = row * 7 % 23;
      std::memcpy(named.data() + static_cast<std::size_t>(row) * sizeof token, &token, sizeof token);
    }
    expect_right_in_parts<cuda::EmbeddingOperation>(tokens, dtype, {.opaque = {{Slot::src, named}}});
    const Embedding positions{.rows = 60 * 5,
                              .vocabulary = 9,
                              .width = 24,
                              .dtype = dtype,
                              .kind = Embedding::Kind::positions,
                              .sequence = 5};
    expect_right_in_parts<cuda::EmbeddingOperation>(positions, dtype, {.in_place = {{Slot::dst, Slot::src}}});
    testing::expect_like_reference<cuda::EmbeddingOperation, FewFibers>(backward_of(positions), dtype);
  }
}

TEST(PartedImplicitGemm, IsLikeItsReference) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    expect_right_in_parts<cuda::ImplicitGemmOperation>({.batch = 19,
                                                        .in_channels = 8,
                                                        .height = 5,
                                                        .width = 6,
                                                        .out_channels = 40,
                                                        .kernel_h = 3,
                                                        .kernel_w = 3,
                                                        .pad_h = 1,
                                                        .pad_w = 1,
                                                        .dtype = dtype},
                                                       dtype);
  }
}

TEST(Parted, ASampleOfMoreIsRefusedByName) {
  const auto made = cuda::implementation<FewFibers, cuda::PoolOperation>();
  const Pool pool{.src = {.n = 1, .c = 8, .h = 20, .w = 20}, .kernel_h = 2, .kernel_w = 2};
  EXPECT_EQ(made.unsupported(pool, testing::cpu()),
            "the CUDA kernels count to 3000, a sample has 3200 elements");
  EXPECT_EQ((cuda::implementation<testing::Fibers, cuda::PoolOperation>().unsupported(pool, testing::cpu())),
            std::nullopt);
}

// A convolution's weights' gradient in small: dst[c] = Σ src[n][c], and all of src once more as it is.
class SumOfSamples final : public ReferenceOperation {
 public:
  explicit SumOfSamples(std::int64_t samples) : samples_(samples) {
    add_activation(Slot::src, Role::input, {.n = samples, .c = 3});
    add_values(Slot::diff_weights, Role::output, 3);
    add_opaque(Slot::workspace, Role::scratch, 8 * samples);
  }
  void run(const SlotPointers& pointers) override {
    const std::vector<float> src = read(pointers, Slot::src);
    std::vector<float> sums(3);
    for (std::size_t i = 0; i < src.size(); ++i) {
      sums[i % 3] += src[i];
    }
    std::memset(pointers[Slot::workspace], 0xff, static_cast<std::size_t>(8 * samples_));
    write_values(pointers, Slot::diff_weights, sums);
  }
  double flops() const override { return static_cast<double>(3 * samples_); }

 private:
  std::int64_t samples_;
};

TEST(Parted, GradientsOfParametersAreAdded) {
  int added = 0;
  cuda::PartedOperation parted(
      {.each = 16, .count = 2, .rest = 5}, [](std::int64_t n) { return std::make_unique<SumOfSamples>(n); },
      [&](const SlotInfo& slot, void* sum, const void* summand) {
        ++added;
        EXPECT_EQ(slot.slot, Slot::diff_weights);
        for (std::int64_t i = 0; i < slot.plain_count; ++i) {
          static_cast<float*>(sum)[i] += static_cast<const float*>(summand)[i];
        }
      });
  EXPECT_EQ(parted.find(Slot::src)->tensor.n, 37);
  EXPECT_EQ(parted.find(Slot::workspace)->bytes, 256 + 256) << "a part's own, and a summand";
  EXPECT_EQ(parted.flops(), 3 * 37);
  SumOfSamples whole(37);
  auto expected = testing::run_exactly(whole, Dtype::fp32);
  testing::expect_close(whole, expected, testing::run_exactly(parted, Dtype::fp32), 1e-6);
  EXPECT_EQ(added, 2);
}

}  // namespace
}  // namespace bench::kernels
