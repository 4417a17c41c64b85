// The rules that the pool and the simulator follow, one call at a time.
#include "sweeps/workers/loader/batch_queue.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::loader {
namespace {

using ::testing::AllOf;
using ::testing::Field;
using ::testing::Optional;

auto is_piece(std::int64_t batch, std::int64_t first, std::int64_t count) {
  return Optional(
      AllOf(Field(&Piece::batch, batch), Field(&Piece::first, first), Field(&Piece::count, count)));
}

TEST(BatchQueue, InOrderGivesEachWorkerItsOwnBatchesWhole) {
  BatchQueue queue(Order::in_order, 2, 2, 10);
  EXPECT_THAT(queue.hand_out(0 - 2), is_piece(0, 0, 10));
  EXPECT_THAT(queue.hand_out(1 - 2), is_piece(1, 0, 10));
  EXPECT_THAT(queue.hand_out(1), is_piece(3, 0, 10));
  EXPECT_EQ(queue.hand_out(3), std::nullopt);  // four slots
  EXPECT_FALSE(queue.made(1));
  EXPECT_EQ(queue.take(), std::nullopt);  // batch 0 holds it back
  EXPECT_TRUE(queue.made(0));
  EXPECT_EQ(queue.take(), 0);
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(queue.hand_out(2), std::nullopt);
  EXPECT_EQ(queue.free_slot(), 0);  // of worker 0, which may begin batch 4
  EXPECT_THAT(queue.hand_out(2), is_piece(4, 0, 10));
  EXPECT_EQ(queue.hand_out(3), std::nullopt);
  EXPECT_EQ(queue.free_slot(), 1);
  EXPECT_THAT(queue.hand_out(3), is_piece(5, 0, 10));
}

TEST(BatchQueue, SharedSamplesGoToTheNewestBatchAndTheFirstDoneIsTaken) {
  BatchQueue queue(Order::any, 3, 1, 2);
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_THAT(queue.hand_out(0), is_piece(i / 2, i % 2, 1));
  }
  EXPECT_EQ(queue.hand_out(0), std::nullopt);  // three slots
  EXPECT_FALSE(queue.made(0));
  EXPECT_FALSE(queue.made(2));
  EXPECT_TRUE(queue.made(2));
  EXPECT_EQ(queue.take(), 2);
  EXPECT_EQ(queue.take(), std::nullopt);
  EXPECT_EQ(queue.hand_out(0), std::nullopt);  // taken, not yet free
  queue.free_slot();
  EXPECT_THAT(queue.hand_out(0), is_piece(3, 0, 1));
}

TEST(BatchQueue, WithoutWorkersTheConsumerTakesItsOwn) {
  BatchQueue queue(Order::any, 0, 2, 5);
  EXPECT_EQ(queue.take_own(), 0);
  EXPECT_EQ(queue.take_own(), 1);
}

}  // namespace
}  // namespace bench::loader
