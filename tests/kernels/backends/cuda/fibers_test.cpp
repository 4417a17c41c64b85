// The fibers themselves: what a GPU does they do, and what would hang or fault there they refuse.
#include "fibers.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/backends/cuda/tiling.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/softmax/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::FiberThread;
using testing::run_grid;

struct Values {
  int value[256];
};

// Every thread writes, then reads its neighbour's: right only with the barrier between.
std::vector<int> neighbours(bool barrier) {
  std::vector<int> read(256);
  run_grid(256, 1, [&](const FiberThread& thread) {
    auto& shared = thread.shared<Values>();
    shared.value[thread.index()] = thread.index();
    if (barrier) {
      thread.sync();
    }
    read[thread.index()] = shared.value[(thread.index() + 1) % 256];
  });
  return read;
}

TEST(Fibers, MeetAtBarriers) {
  std::vector<int> expected(256);
  std::iota(expected.begin(), expected.end(), 1);
  expected.back() = 0;
  EXPECT_EQ(neighbours(true), expected);
}

// Of a warp's threads only: the others are not waited for, and may have ended.
TEST(Fibers, MeetInTheirWarp) {
  std::vector<int> read(64);
  run_grid(64, 1, [&](const FiberThread& thread) {
    auto& shared = thread.shared<Values>();
    const int me = thread.index();
    for (int round = 0; round < (me < 32 ? 1 : 3); ++round) {
      shared.value[me] = me + round;
      thread.sync_warp();
      read[me] = shared.value[me ^ 31];
      thread.sync_warp();
    }
  });
  for (int me = 0; me < 64; ++me) {
    EXPECT_EQ(read[me], (me ^ 31) + (me < 32 ? 0 : 2)) << me;
  }
}

TEST(Fibers, ShowAForgottenBarrier) {
  if (testing::under_thread_sanitizer()) {
    GTEST_SKIP() << "it would end the program";
  }
  EXPECT_NE(neighbours(false), neighbours(true));
}

TEST(Fibers, ExchangeWithinAWarp) {
  std::vector<float> read(64);
  run_grid(64, 1, [&](const FiberThread& thread) {
    float value = static_cast<float>(thread.index());
    for (int mask = 16; mask > 0; mask /= 2) {
      value += thread.shuffle_xor(value, mask);
    }
    read[thread.index()] = value;
  });
  EXPECT_EQ(read[0], 496.0F);  // 0 + … + 31
  EXPECT_EQ(read[31], 496.0F);
  EXPECT_EQ(read[32], 1520.0F);  // 32 + … + 63
}

TEST(Fibers, RunEveryThreadOfEveryBlockOnce) {
  std::vector<int> runs(std::size_t{64} * 7);
  run_grid(64, 7, [&](const FiberThread& thread) {
    ASSERT_EQ(thread.blocks(), 7);
    ++runs[thread.block() * 64 + thread.index()];
  });
  EXPECT_THAT(runs, ::testing::Each(1));
}

TEST(Fibers, RefuseWhatWouldHang) {
  EXPECT_THROW(run_grid(64, 1,
                        [](const FiberThread& thread) {
                          if (thread.index() != 7) {
                            thread.sync();
                          }
                        }),
               std::logic_error);
  EXPECT_THROW(run_grid(32, 1,
                        [](const FiberThread& thread) {
                          if (thread.index() < 16) {
                            thread.shuffle_xor(1.0F, 1);
                          } else {
                            thread.sync();
                          }
                        }),
               std::logic_error);
  EXPECT_THROW(run_grid(32, 1,
                        [](const FiberThread& thread) {
                          if (thread.index() != 7) {
                            thread.sync_warp();
                          }
                        }),
               std::logic_error);
  EXPECT_EQ(neighbours(true)[5], 6);  // and go on afterwards
}

TEST(Fibers, RefuseAccessesOutOfAlignment) {
  alignas(16) std::array<std::byte, 32> memory{};
  EXPECT_NO_THROW(testing::FiberMemory::load<16>(memory.data()));
  EXPECT_THROW(testing::FiberMemory::load<16>(memory.data() + 8), std::logic_error);
  EXPECT_THROW(testing::FiberMemory::store(memory.data() + 2, cuda::Vector<4>{}), std::logic_error);
}

TEST(Fibers, HandOnWhatAThreadThrows) {
  EXPECT_THROW(run_grid(32, 1, [](const FiberThread&) { throw std::out_of_range("from a thread"); }),
               std::out_of_range);
}

TEST(JoinGroup, JoinsAWarpAndABlock) {
  struct Room {
    cuda::WarpValues<float> values;
  };
  std::vector<float> sums(512);
  run_grid(256, 1, [&](const FiberThread& thread) {
    auto& room = thread.shared<Room>().values;
    const auto value = static_cast<float>(thread.index());
    sums[thread.index()] = cuda::join_group<32>(thread, value, cuda::Sum{}, room);
    sums[256 + thread.index()] = cuda::join_group<256>(thread, value, cuda::Sum{}, room) +
                                 cuda::join_group<256>(thread, value, cuda::Largest{}, room);
  });
  EXPECT_EQ(sums[3], 496.0F);
  EXPECT_EQ(sums[255], 32.0F * 239.5F);  // 224 … 255
  EXPECT_THAT(std::vector(sums.begin() + 256, sums.end()), ::testing::Each(32640.0F + 255.0F));
}

TEST(Divider, DividesLikeTheProcessor) {
  for (const std::uint32_t divisor :
       {1U, 2U, 3U, 5U, 7U, 10U, 64U, 641U, 1000U, 65535U, 65537U, 1U << 30, 0x7fffffffU}) {
    const cuda::Divider divide(divisor);
    for (const std::uint32_t n :
         {0U, 1U, 2U, divisor - 1, divisor, divisor + 1, 12345678U, 0x7ffffffeU, 0x7fffffffU}) {
      if (n <= 0x7fffffffU) {
        std::uint32_t rest = n;
        EXPECT_EQ(divide.take(rest), n % divisor) << n << " by " << divisor;
        EXPECT_EQ(rest, n / divisor) << n << " by " << divisor;
      }
    }
  }
}

// Every element of the matrix belongs to one thread.
TEST(Tiling, CoversAMatrixOnce) {
  for (const std::int64_t rows : {1, 2, 33, 1000}) {
    for (const std::int64_t columns : {1, 3, 32, 33, 100}) {
      for (const cuda::Tiling& tiling :
           {cuda::Tiling::of(rows, columns, 1), cuda::Tiling::of(rows, columns, 4),
            cuda::Tiling::of(rows, columns, 132), cuda::Tiling::mapping(rows, columns, 1)}) {
        std::vector<int> visits(static_cast<std::size_t>(rows * columns));
        run_grid(cuda::Tiling::kThreads, tiling.blocks(), [&](const FiberThread& thread) {
          const auto place = tiling.place<1>(thread);
          for (std::uint32_t row = place.row; place.inside && row < place.last; row += tiling.height()) {
            ++visits.at(row * columns + place.column);
          }
        });
        EXPECT_THAT(visits, ::testing::Each(1)) << rows << " x " << columns << " in " << tiling.blocks();
      }
    }
  }
}

// ResNet-50's at 64 images in 16 bits: a thread reads a channel's parameters once for so many rows.
TEST(Tiling, OfAMapHasUpTo16RowsAThread) {
  const auto rows_a_thread = [](std::int64_t rows, std::int64_t channels) {
    const cuda::Tiling tiling = cuda::Tiling::mapping(rows, channels / 8, 132);
    EXPECT_GE(tiling.blocks(), std::min<std::int64_t>(rows * channels / 8 / 1024, 132 * 4));
    return static_cast<int>(tiling.rows_per_chunk) * (1 << tiling.log_width) / cuda::Tiling::kThreads;
  };
  EXPECT_EQ(rows_a_thread(64 * 56 * 56, 256), 16);
  EXPECT_EQ(rows_a_thread(64 * 28 * 28, 512), 16);
  EXPECT_EQ(rows_a_thread(64 * 14 * 14, 1024), 8);
  EXPECT_EQ(rows_a_thread(64 * 7 * 7, 2048), 4);
  EXPECT_EQ(rows_a_thread(7 * 7, 2048), 4);
}

TEST(Units, TakesAnIndexApart) {
  const cuda::Units units(2, 3, 5, 7);
  EXPECT_EQ(units.count(), 210U);
  const cuda::Unit unit = units.at(((1 * 3 + 2) * 5 + 4) * 7 + 6);
  EXPECT_EQ(unit.n, 1U);
  EXPECT_EQ(unit.y, 2U);
  EXPECT_EQ(unit.x, 4U);
  EXPECT_EQ(unit.column, 6U);
}

// A body that reads one element too many, in memory as every kernel's test has it.
class OneTooMany final : public ReferenceOperation {
 public:
  explicit OneTooMany(std::int64_t threads) : threads_(threads) {
    add_activation(Slot::src, Role::input, {.n = 1, .c = 32, .layout = Layout::nhwc});
    add_activation(Slot::dst, Role::output, {.n = 1, .c = 64, .layout = Layout::nhwc});
  }
  void run(const SlotPointers& pointers) override {
    const auto* const src = static_cast<const float*>(pointers[Slot::src]);
    auto* const dst = static_cast<float*>(pointers[Slot::dst]);
    run_grid(64, 1, [&](const FiberThread& thread) {
      if (thread.index() < threads_) {
        testing::FiberMemory::store<4>(dst + thread.index(),
                                       testing::FiberMemory::load<4>(src + thread.index()));
      }
    });
  }
  double flops() const override { return 0; }

 private:
  std::int64_t threads_;
};

// The tests' answers are right without it, whatever is read beyond the end.
TEST(FibersDeathTest, TheAddressSanitizerSeesABodyThatReadsTooFar) {
  OneTooMany right(32);
  testing::run_exactly(right, Dtype::fp32);
#ifdef BENCH_BODIES_UNDER_ADDRESS_SANITIZER
  OneTooMany wrong(33);
  EXPECT_DEATH(testing::run_exactly(wrong, Dtype::fp32), "heap-buffer-overflow");
#else
  GTEST_SKIP() << "this program is without the address sanitizer";
#endif
}

// Whatever the order of turns: of the kernel that joins a block's rows, any barrier but the last.
TEST(FibersDeathTest, TheThreadSanitizerReportsAForgottenBarrier) {
  if (!testing::under_thread_sanitizer()) {
    GTEST_SKIP() << "this program is without the thread sanitizer";
  }
  const auto softmax = [](std::optional<int> forgotten) {
    testing::forget_barrier(forgotten);
    const auto operation =
        testing::on_fibers<cuda::SoftmaxOperation>({{.n = 2, .c = 5003, .dtype = Dtype::fp32}});
    testing::run_exactly(*operation, Dtype::fp32);
    std::exit(0);
  };
  constexpr int kReported = 66;  // exit status of a program in which the sanitizer found something
  EXPECT_EXIT(softmax(std::nullopt), ::testing::ExitedWithCode(0), "");
  for (const int barrier : {0, 1, 2}) {
    EXPECT_EXIT(softmax(barrier), ::testing::ExitedWithCode(kReported), "data race") << barrier;
  }
}

}  // namespace
}  // namespace bench::kernels
