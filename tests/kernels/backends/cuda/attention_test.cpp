// Attention as a CUDA device runs it, its kernels on fibers and its products on the host as cuBLASLt is told
// to see them: rounds over samples and over heads, heads that are gathered, rows that one thread, a warp and
// a block does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "host_product.h"
#include "kernels/operations/attention/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::Bytes;
using testing::FiberQueue;
using testing::Fibers;
using testing::HostProduct;
using testing::run_exactly;
using testing::RunOptions;

// batch, sequence, heads, head_size
constexpr std::array<std::array<std::int64_t, 4>, 12> kAttentionShapes{{{1, 1, 1, 1},
                                                                        {2, 1, 4, 8},
                                                                        {4, 9, 5, 3},
                                                                        {6, 16, 4, 8},
                                                                        {4, 1, 4, 1},
                                                                        {3, 7, 2, 5},
                                                                        {2, 8, 3, 16},
                                                                        {4, 16, 2, 8},
                                                                        {2, 33, 3, 3},
                                                                        {1, 40, 2, 24},
                                                                        {5, 24, 1, 4},
                                                                        {1, 65, 2, 2}}};

// batch, sequence, keys, heads: all positions are seen.
constexpr std::array<std::array<std::int64_t, 4>, 6> kOtherKeys{
    {{2, 16, 16, 3}, {4, 5, 33, 2}, {4, 5, 33, 6}, {1, 40, 3, 2}, {2, 9, 9, 1}, {5, 7, 7, 4}}};

template <class Visit>
void for_each_attention(Visit visit) {
  for (const Dtype dtype : testing::few_under_thread_sanitizer(kAllDtypes)) {
    for (const auto& [batch, sequence, heads, head_size] :
         testing::few_under_thread_sanitizer(kAttentionShapes, 5)) {
      SCOPED_TRACE(fmt::format("{} batch {} sequence {} heads {} of {}", name_of(dtype), batch, sequence,
                               heads, head_size));
      visit(Attention{
          .batch = batch, .sequence = sequence, .heads = heads, .head_size = head_size, .dtype = dtype});
    }
    for (const auto& [batch, sequence, keys, heads] : testing::few_under_thread_sanitizer(kOtherKeys, 2)) {
      SCOPED_TRACE(fmt::format("{} batch {} sequence {} by {} heads {}", name_of(dtype), batch, sequence,
                               keys, heads));
      visit(Attention{.batch = batch,
                      .sequence = sequence,
                      .heads = heads,
                      .head_size = 8,
                      .dtype = dtype,
                      .causal = false,
                      .scale = 0.25F,
                      .packed = keys == sequence,
                      .keys = keys});
    }
  }
}

// As large as an H200, which is not filled by the heads of one round.
constexpr int kLargeCard = 132;
struct LargeCard : Fibers {
  struct Queue : FiberQueue {
    using FiberQueue::FiberQueue;
    int multiprocessors() const { return kLargeCard; }
  };
};

std::unique_ptr<Operation> on_fibers(const Attention& spec) {
  return std::make_unique<cuda::AttentionOperation<LargeCard, HostProduct>>(spec, testing::cpu());
}

// P and dS are rounded between two products.
double tolerance_of(Dtype dtype) {
  return 2 * testing::tolerance_of(dtype);
}

std::vector<float> probabilities(const Attention& spec, const Bytes& saved) {
  std::vector<float> p(static_cast<std::size_t>(spec.probabilities().elements()));
  load(spec.probabilities(), saved.data(), p);
  return p;
}

TEST(CudaAttention, InferenceIsLikeItsReference) {
  for_each_attention([](const Attention& spec) {
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    testing::expect_close(*reference, run_exactly(*reference, spec.dtype),
                          run_exactly(*on_fibers(spec), spec.dtype), tolerance_of(spec.dtype));
  });
}

TEST(CudaAttention, TrainingSavesTheProbabilities) {
  for_each_attention([](Attention spec) {
    spec.training = true;
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    auto expected = run_exactly(*reference, spec.dtype);
    auto answer = run_exactly(*on_fibers(spec), spec.dtype);
    EXPECT_LE(relative_error(probabilities(spec, answer.at(Slot::saved)),
                             probabilities(spec, expected.at(Slot::saved))),
              tolerance_of(spec.dtype));
    expected.erase(Slot::saved);
    answer.erase(Slot::saved);
    testing::expect_close(*reference, expected, answer, tolerance_of(spec.dtype));
  });
}

TEST(CudaAttention, BackwardIsLikeItsReference) {
  for_each_attention([](Attention spec) {
    spec.training = true;
    const auto forward = make_operation(spec, testing::cpu(), "reference");
    const Bytes saved = run_exactly(*forward, spec.dtype).at(Slot::saved);
    spec.direction = Direction::backward;
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    const RunOptions options{.opaque = {{Slot::saved, saved}}};
    testing::expect_close(*reference, run_exactly(*reference, spec.dtype, options),
                          run_exactly(*on_fibers(spec), spec.dtype, options), tolerance_of(spec.dtype));
  });
}

// Whichever is less of samples and heads, so that a pass needs few products.
TEST(CudaAttention, MakesTheFewerRounds) {
  const cuda::AttentionProducts samples({.batch = 2, .sequence = 3, .heads = 5, .head_size = 4}, kLargeCard);
  EXPECT_EQ(samples.rounds, 2);
  EXPECT_EQ(samples.all.front().batch, 5);
  const cuda::AttentionProducts heads({.batch = 64, .sequence = 1024, .heads = 5, .head_size = 64},
                                      kLargeCard);
  EXPECT_EQ(heads.rounds, 5);
  EXPECT_EQ(heads.all.front().batch, 64);
}

TEST(CudaAttention, GathersHeadsWhereARoundDoesNotFillTheCard) {
  const Attention small{.batch = 16, .sequence = 128, .heads = 12, .head_size = 64};
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    Attention spec = small;
    spec.direction = direction;
    const cuda::AttentionProducts products(spec, kLargeCard);
    EXPECT_TRUE(products.gathered);
    EXPECT_EQ(products.rounds, 1);
    for (const cublaslt::Product& product : products.all) {
      EXPECT_EQ(product.batch, 16 * 12) << cublaslt::described(product);
    }
  }
  const cublaslt::Stored queries = cuda::AttentionProducts(small, kLargeCard).all.front().a;
  EXPECT_EQ(queries.step, 64);
  EXPECT_EQ(queries.batch_step, 128 * 64);

  const auto gathered = [](const Attention& spec, int multiprocessors) {
    return cuda::AttentionProducts(spec, multiprocessors).gathered;
  };
  EXPECT_FALSE(gathered(small, 40)) << "16 heads of a round fill a T4";
  Attention spec = small;
  spec.heads = 3;
  EXPECT_FALSE(gathered(spec, kLargeCard)) << "copies would take as long as three rounds";
  spec = small;
  spec.sequence = 1024;
  EXPECT_FALSE(gathered(spec, kLargeCard)) << "a round fills the card";
  spec.head_size = 8;
  EXPECT_FALSE(gathered(spec, kLargeCard)) << "the squares of all heads would take 800 MB";
  spec = small;
  spec.packed = false;
  spec.causal = false;
  spec.heads = 4;
  EXPECT_TRUE(gathered(spec, kLargeCard));
  spec.keys = 320;
  EXPECT_FALSE(gathered(spec, kLargeCard)) << "a round's keys fill the card";
}

// Query, key, value and out, and backward the gradients, lie behind the squares of all heads.
TEST(CudaAttention, GatheredHeadsTakeScratch) {
  Attention spec{.batch = 4, .sequence = 16, .heads = 4, .head_size = 8};
  const auto scratch = [&] {
    return on_fibers(spec)->find(Slot::workspace)->bytes - HostProduct::kWorkspace;
  };
  constexpr std::int64_t kSquares = 4 * 4 * 16 * 16;
  constexpr std::int64_t kTensor = 4 * 4 * 16 * 8;
  EXPECT_EQ(scratch(), kSquares * 4 + 4 * kTensor * 4);
  spec.dtype = Dtype::fp16;
  EXPECT_EQ(scratch(), kSquares * (4 + 2) + 4 * kTensor * 2);
  spec.training = true;
  EXPECT_EQ(scratch(), kSquares * 4 + 4 * kTensor * 2);
  spec.direction = Direction::backward;
  EXPECT_EQ(scratch(), kSquares * (4 + 2) + 7 * kTensor * 2);
}

// Squares of one round only, and none where scores become probabilities in `saved`.
TEST(CudaAttention, ScratchHoldsOneRound) {
  Attention spec{.batch = 3, .sequence = 16, .heads = 4, .head_size = 8};
  const auto squares = [&] {
    return on_fibers(spec)->find(Slot::workspace)->bytes - HostProduct::kWorkspace;
  };
  constexpr std::int64_t kSquares = 4 * 16 * 16;
  EXPECT_EQ(squares(), kSquares * 4);
  spec.dtype = Dtype::bf16;
  EXPECT_EQ(squares(), kSquares * (4 + 2));
  spec.training = true;
  EXPECT_EQ(squares(), kSquares * 4);
  spec.dtype = Dtype::fp32;
  EXPECT_EQ(squares(), 0);
  spec.direction = Direction::backward;
  EXPECT_EQ(squares(), kSquares * 4);
}

// The kernel alone, over rows so long that a block does one: the products of such squares take too long here.
TEST(CudaAttention, SoftensLongRows) {
  constexpr std::int64_t kLength = 4104;
  constexpr std::int64_t kFirst = kLength - 3;  // the rows looked at: a square's last ones take longest
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-20, 20);
  std::vector<float> scores(kLength * kLength);
  std::generate(scores.begin() + kFirst * kLength, scores.end(), [&] { return uniform(random); });
  const std::vector<float> before = scores;
  const cuda::SquareRows rows{1, kLength, kLength, true};
  auto* const dst = reinterpret_cast<std::uint32_t*>(scores.data());
  const cuda::SquareSoftmax<testing::FiberFp32, 4, 256> kernel{rows, scores.data(), 0, dst, 0};
  testing::run_grid(256, rows.count(), [&](const testing::FiberThread& thread) {
    if (thread.block() >= kFirst) {
      kernel(thread);
    }
  });
  for (std::int64_t i = kFirst; i < kLength; ++i) {
    const auto row = before.begin() + i * kLength;
    const double largest = *std::max_element(row, row + i + 1);
    double sum = 0;
    for (std::int64_t j = 0; j <= i; ++j) {
      sum += std::exp(static_cast<double>(row[j]) - largest);
    }
    for (std::int64_t j = 0; j < kLength; ++j) {
      const double right = j <= i ? std::exp(static_cast<double>(row[j]) - largest) / sum : 0;
      ASSERT_NEAR(scores[i * kLength + j], right, 1e-5 * right) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace bench::kernels
