// Blocks that a multiprocessor holds, against figures of NVIDIA's occupancy calculator.
#include "kernels/backends/cuda/residency.h"

#include <gtest/gtest.h>

#include <array>

#include "fibers.h"
#include "kernels/operations/batch_norm/cuda.cu"
#include "kernels/operations/layer_norm/cuda.cu"
#include "kernels/operations/stream/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels::cuda {
namespace {

int blocks(int capability, const BlockNeeds& block) {
  return resident_blocks(multiprocessor_of(capability), block);
}

TEST(Residency, ThreadsAndBlocksLimitIt) {
  const BlockNeeds small{.threads = 256, .registers = 32, .shared_bytes = 0};
  EXPECT_EQ(blocks(75, small), 4);
  EXPECT_EQ(blocks(80, small), 8);
  EXPECT_EQ(blocks(86, small), 6);
  EXPECT_EQ(blocks(89, small), 6);
  EXPECT_EQ(blocks(90, small), 8);
  const BlockNeeds single_warps{.threads = 32, .registers = 16, .shared_bytes = 0};
  EXPECT_EQ(blocks(75, single_warps), 16);
  EXPECT_EQ(blocks(80, single_warps), 32);
  EXPECT_EQ(blocks(86, single_warps), 16);
  EXPECT_EQ(blocks(89, single_warps), 24);
}

// 65536 of them, given to a warp in multiples of 256, to warps in each of four parts.
TEST(Residency, RegistersLimitIt) {
  const auto of = [](int registers, int threads = 256) {
    return blocks(90, {.threads = threads, .registers = registers, .shared_bytes = 0});
  };
  EXPECT_EQ(of(40), 6);
  EXPECT_EQ(of(41), 5);
  EXPECT_EQ(of(64), 4);
  EXPECT_EQ(of(65), 3);
  EXPECT_EQ(of(80), 3);
  EXPECT_EQ(of(128), 2);
  EXPECT_EQ(of(168), 1);
  EXPECT_EQ(of(255), 1);
  EXPECT_EQ(of(168, 128), 3);
}

TEST(Residency, SharedMemoryLimitsIt) {
  const BlockNeeds large{.threads = 256, .registers = 32, .shared_bytes = 17408};
  EXPECT_EQ(blocks(75, large), 3) << "64 KiB";
  EXPECT_EQ(blocks(80, large), 8) << "164 KiB";
  EXPECT_EQ(blocks(86, large), 5) << "100 KiB, 1 KiB of it for each block";
  EXPECT_EQ(blocks(90, {.threads = 256, .registers = 32, .shared_bytes = 49152}), 4);
}

// A card that nobody knows has at least what the smallest has.
TEST(Residency, OfAnUnknownCardIsTheLeast) {
  for (const int registers : {32, 64, 128}) {
    for (const int shared : {0, 9216, 17408}) {
      const BlockNeeds block{.threads = 256, .registers = registers, .shared_bytes = shared};
      for (const int known : {75, 80, 86, 89, 90, 100, 120}) {
        EXPECT_LE(blocks(999, block), blocks(known, block)) << known;
      }
    }
  }
}

constexpr std::array kCapabilities{75, 80, 86, 89, 90};

template <class Kernel>
std::array<int, kCapabilities.size()> on_each() {
  std::array<int, kCapabilities.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = resident_blocks<Kernel>(kCapabilities[i]);
  }
  return all;
}

// What launches count with. Sums in 16 bits take 17 KiB a block, of which a T4 has room for three.
TEST(Residency, OfTheReducingKernels) {
  using testing::FiberFp16;
  using testing::FiberFp32;
  using All = std::array<int, kCapabilities.size()>;
  EXPECT_EQ((on_each<SquareSums<FiberFp32, 4>>()), (All{4, 6, 6, 6, 6}));
  EXPECT_EQ((on_each<ChunkMoments<FiberFp32, 4>>()), (All{4, 4, 4, 4, 4}));
  EXPECT_EQ((on_each<ChunkMoments<FiberFp16, 8>>()), (All{3, 3, 3, 3, 3}));
  EXPECT_EQ((on_each<ColumnSums<FiberFp32, 4, ChannelNormalizer>>()), (All{3, 3, 3, 3, 3}));
  EXPECT_EQ((on_each<ColumnSums<FiberFp16, 8, RowNormalizer>>()), (All{2, 2, 2, 2, 2}));
}

// The workspace has room for the chunks of a launch, and for no more: what is planned is what is launched.
class Counting : public testing::FiberQueue {
 public:
  using FiberQueue::FiberQueue;
  template <class Kernel>
  void launch(const Kernel& kernel, std::int64_t blocks) const {
    most = std::max(most, blocks);
    FiberQueue::launch(kernel, blocks);
  }
  int multiprocessors() const { return 4; }
  template <class Kernel>
  std::int64_t resident() const {
    return std::int64_t{4} * resident_blocks<Kernel>(capability);
  }
  static inline int capability = 90;
  static inline std::int64_t most = 0;
};
struct CountingFibers : testing::Fibers {
  using Queue = Counting;
};

TEST(Residency, SizesTheScratchOfALaunch) {
  for (const int capability : kCapabilities) {
    Counting::capability = capability;
    Counting::most = 0;
    const Stream read{.kind = Stream::Kind::read, .rows = 1, .count = 400'000};
    const auto operation = testing::on_fibers<StreamOperation, CountingFibers>(read);
    testing::run_exactly(*operation, Dtype::fp32);
    const int resident = resident_blocks<SquareSums<testing::FiberFp32, 4>>(capability);
    EXPECT_EQ(Counting::most, 4 * resident) << capability;
    EXPECT_EQ(operation->find(Slot::workspace)->bytes, Counting::most * 4) << capability;
    // Under the address sanitizer a chunk too many is seen.
    testing::expect_like_reference<BatchNormOperation, CountingFibers>(
        {.tensor = {.n = 3, .c = 8, .h = 90, .w = 90, .dtype = Dtype::fp16}, .training = true}, Dtype::fp16);
    testing::expect_like_reference<LayerNormOperation, CountingFibers>(
        backward_of(LayerNorm{.rows = 7000, .width = 8, .dtype = Dtype::fp16}), Dtype::fp16);
  }
}

}  // namespace
}  // namespace bench::kernels::cuda
