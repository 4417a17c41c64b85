#include "sweeps/workers/loader/pool.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "bench/error.h"
#include "sweeps/workers/loader/synthetic.h"

namespace bench::loader {
namespace {

std::vector<std::byte> tiny_jpeg(int value) {
  const std::vector<std::uint8_t> bytes(16 * 16 * 3, static_cast<std::uint8_t>(value));
  return encoded_jpeg({.width = 16, .height = 16, .rgb = bytes}, 75);
}

// Grey images, each of its own brightness; some may be slow, bad or broken in another way.
class TinyImages final : public Dataset {
 public:
  explicit TinyImages(std::int64_t count) : count_(count) {
    for (int i = 0; i < std::min<std::int64_t>(count, kDifferent); ++i) {
      encoded_.push_back(tiny_jpeg(i));
    }
  }
  std::int64_t size() const override { return count_; }
  std::string name(std::int64_t number) const override { return "tiny" + std::to_string(number); }
  std::int64_t encoded_bytes(std::int64_t number) const override { return std::ssize(encoded(number)); }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    before_read(number);
    bytes = encoded(number);
  }
  std::optional<std::string> evict(std::int64_t /*number*/) const override { return std::nullopt; }

  std::function<void(std::int64_t)> before_read = [](std::int64_t) {};

 private:
  static constexpr std::int64_t kDifferent = 250;
  const std::vector<std::byte>& encoded(std::int64_t number) const {
    return encoded_[static_cast<std::size_t>(number % kDifferent)];
  }

  std::int64_t count_;
  std::vector<std::vector<std::byte>> encoded_;
};

Transform tiny_transform() {
  Transform transform;
  transform.image_size = 8;
  transform.element = Element::uint8;
  return transform;
}

class PoolTest : public testing::Test {
 protected:
  std::unique_ptr<WorkerPool> start(const PoolSettings& settings) {
    const std::int64_t bytes = settings.batch * transform_.sample_bytes();
    memory_.assign(static_cast<std::size_t>(WorkerPool::slots_for(settings) * bytes), std::byte{0});
    slots_.clear();
    for (std::int64_t i = 0; i < WorkerPool::slots_for(settings); ++i) {
      slots_.push_back(memory_.data() + i * bytes);
    }
    return std::make_unique<WorkerPool>(images_, transform_, settings, steady_clock(), slots_, bad_);
  }
  // The brightness of each sample.
  std::vector<int> contents(const Batch& batch, std::int64_t count) const {
    std::vector<int> values;
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(std::to_integer<int>(batch.data[i * transform_.sample_bytes()]));
    }
    return values;
  }

  TinyImages images_{40};
  Transform transform_ = tiny_transform();
  BadFiles bad_;
  std::vector<std::byte> memory_;
  std::vector<std::byte*> slots_;
};

TEST_F(PoolTest, EveryWorkerCountMakesTheSameBatchesInOrder) {
  std::vector<std::vector<int>> expected;
  for (const int workers : {0, 1, 2, 3, 7}) {
    const auto pool = start({.workers = workers, .prefetch = 2, .batch = 5, .seed = 3});
    for (std::size_t number = 0; number < 12; ++number) {
      const Batch batch = pool->next();
      ASSERT_NE(batch.data, nullptr);
      EXPECT_EQ(batch.number, static_cast<std::int64_t>(number));
      if (workers == 0) {
        expected.push_back(contents(batch, 5));
      } else {
        EXPECT_EQ(contents(batch, 5), expected[number]) << workers << " workers, batch " << number;
      }
      pool->give_back(batch);
    }
  }
}

TEST_F(PoolTest, OnePassHoldsEveryImageOnceInAnotherOrderThanTheirNumbers) {
  const auto pool = start({.workers = 2, .prefetch = 2, .batch = 4, .seed = 9});
  std::vector<int> seen;
  for (int i = 0; i < 10; ++i) {
    const Batch batch = pool->next();
    const std::vector<int> values = contents(batch, 4);
    seen.insert(seen.end(), values.begin(), values.end());
    pool->give_back(batch);
  }
  EXPECT_FALSE(std::ranges::is_sorted(seen));
  EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 40U);
}

// Whichever is done first comes first, and each is what its number says.
TEST_F(PoolTest, SharedSamplesFillWholeBatches) {
  std::vector<std::vector<int>> expected;
  {
    const auto alone = start({.workers = 0, .batch = 5, .seed = 3});
    for (int i = 0; i < 16; ++i) {  // eight are taken while no more than eight others are in the making
      expected.push_back(contents(alone->next(), 5));
    }
  }
  const auto pool = start({.workers = 4, .prefetch = 2, .order = Order::any, .batch = 5, .seed = 3});
  std::set<std::int64_t> numbers;
  for (int i = 0; i < 8; ++i) {
    const Batch batch = pool->next();
    EXPECT_EQ(batch.sample_ns.size(), 5U);
    EXPECT_EQ(batch.work_spans.size(), 5U);
    EXPECT_TRUE(numbers.insert(batch.number).second);
    EXPECT_EQ(contents(batch, 5), expected.at(static_cast<std::size_t>(batch.number)));
    pool->give_back(batch);
  }
}

// Batch 0 is held until the other three workers have made all they may: in order, nothing comes before it.
TEST_F(PoolTest, InOrderOneSlowBatchHoldsAllBehindIt) {
  const std::int64_t slow = [&] {
    const auto alone = start({.workers = 0, .batch = 1});
    return contents(alone->next(), 1).front();
  }();
  std::atomic<int> made = 0;
  std::atomic<bool> hold = true;
  images_.before_read = [&](std::int64_t number) {
    while (number == slow && hold) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ++made;
  };
  const auto pool =
      start({.workers = 4, .prefetch = 2, .batch = 1, .interrupted = [&] { return made >= 6; }});
  const Batch none = pool->next();
  const int others = made;
  hold = false;
  EXPECT_EQ(none.data, nullptr);
  EXPECT_EQ(others, 6);
}

TEST_F(PoolTest, WorkersStopAtTheirPrefetch) {
  std::atomic<int> reads = 0;
  images_.before_read = [&](std::int64_t) { ++reads; };
  const auto pool = start({.workers = 2, .prefetch = 3, .batch = 2});
  for (int last = -1; last != reads;) {  // until nothing moves any more
    last = reads;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LE(reads, 2 * 3 * 2);
  const Batch batch = pool->next();
  EXPECT_LE(reads, 2 * 3 * 2);  // a slot is the consumer's until it is given back
  pool->give_back(batch);
}

TEST_F(PoolTest, BadImagesAreNamedAndReplaced) {
  images_.before_read = [](std::int64_t number) {
    if (number % 4 == 1) {
      throw BadImage("no luck with " + std::to_string(number));
    }
  };
  for (const Order order : {Order::in_order, Order::any}) {
    const auto pool = start({.workers = 3, .prefetch = 2, .order = order, .batch = 8});
    for (int i = 0; i < 10; ++i) {
      const Batch batch = pool->next();
      for (const int value : contents(batch, 8)) {
        EXPECT_NE(value % 4, 1);
      }
      pool->give_back(batch);
    }
  }
  EXPECT_EQ(bad_.all().size(), 10U);
  EXPECT_EQ(bad_.all().at(5), "no luck with 5");
}

TEST_F(PoolTest, NoImageLeftIsAnErrorForTheConsumer) {
  images_.before_read = [](std::int64_t) { throw BadImage("all of them"); };
  for (const Order order : {Order::in_order, Order::any}) {
    for (const int workers : {0, 1, 4}) {
      const auto pool = start({.workers = workers, .prefetch = 2, .order = order, .batch = 8});
      EXPECT_THROW(pool->next(), UsageError);
    }
  }
  EXPECT_EQ(bad_.all().size(), 40U);
}

TEST_F(PoolTest, AWorkersFailureReachesTheConsumer) {
  std::atomic<int> reads = 0;
  images_.before_read = [&](std::int64_t) {
    if (++reads == 30) {
      throw std::bad_alloc();
    }
  };
  for (const Order order : {Order::in_order, Order::any}) {
    reads = 0;
    const auto pool = start({.workers = 3, .prefetch = 2, .order = order, .batch = 4});
    EXPECT_THROW(
        for (int i = 0; i < 100; ++i) {
          const Batch batch = pool->next();
          pool->give_back(batch);
        },
        std::bad_alloc);
  }
}

TEST_F(PoolTest, AnInterruptEndsTheWait) {
  std::atomic<bool> hold = true;
  images_.before_read = [&](std::int64_t) {
    while (hold) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  std::atomic<bool> interrupted = false;
  const auto pool =
      start({.workers = 2, .prefetch = 2, .batch = 4, .interrupted = [&] { return interrupted.load(); }});
  interrupted = true;
  EXPECT_EQ(pool->next().data, nullptr);
  hold = false;  // the workers end once their reads do
}

TEST_F(PoolTest, AnInterruptEndsTheSearchForAGoodImage) {
  std::atomic<int> reads = 0;
  images_.before_read = [&](std::int64_t) {
    ++reads;
    throw BadImage("all of them");
  };
  const auto pool = start({.workers = 0, .batch = 4, .interrupted = [&] { return reads >= 5; }});
  EXPECT_EQ(pool->next().data, nullptr);
  EXPECT_EQ(reads, 5);
}

// Asked once before each image, and then while it is decoded.
TEST_F(PoolTest, AnInterruptEndsTheImageAtHand) {
  std::atomic<int> reads = 0;
  images_.before_read = [&](std::int64_t) { ++reads; };
  int asked = 0;
  const auto pool = start({.workers = 0, .batch = 4, .interrupted = [&] { return ++asked > 1; }});
  EXPECT_EQ(pool->next().data, nullptr);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(asked, 2);
}

// Each image takes a millisecond at least, and all of them a quarter of an hour.
TEST(PoolOfManyBadImages, EndsWhileItSearchesForAGoodOne) {
  TinyImages images(1'000'000);
  std::atomic<int> reads = 0;
  images.before_read = [&](std::int64_t) {
    ++reads;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw BadImage("all of them");
  };
  std::vector<std::byte> slot(static_cast<std::size_t>(tiny_transform().sample_bytes()));
  const std::vector<std::byte*> slots{slot.data()};
  BadFiles bad;
  {
    const WorkerPool pool(images, tiny_transform(), {.workers = 1, .prefetch = 1, .batch = 1}, steady_clock(),
                          slots, bad);
    while (reads < 3) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_LT(reads, 1'000'000);
}

TEST_F(PoolTest, EndsWhileWorkersAreBusyOrWait) {
  for (const Order order : {Order::in_order, Order::any}) {
    for (const int workers : {1, 8, 64}) {
      const auto pool = start({.workers = workers, .prefetch = 1, .order = order, .batch = 2});
      const Batch batch = pool->next();
      if (workers == 8) {
        pool->give_back(batch);
      }
    }
  }
}

// Those that were started first would leave the thread that starts the others no core.
TEST_F(PoolTest, WorkersBeginWhenAllAreStarted) {
  std::atomic<std::int64_t> fewest = 1'000'000;
  std::atomic<int> counted = 0;
  images_.before_read = [&](std::int64_t) {
    const std::filesystem::directory_iterator threads("/proc/self/task");
    fewest = std::min<std::int64_t>(fewest, std::distance(begin(threads), end(threads)));
    ++counted;
  };
  const auto pool = start({.workers = 64, .prefetch = 1, .batch = 1});
  while (counted < 64) {  // none ends before all have counted
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GT(fewest, 64);
}

int own_priority() {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
}

TEST_F(PoolTest, WorkersOfLowPriorityRunAtTheLowestAndTheConsumerThreadDoesNot) {
  const int before = own_priority();
  for (const Order order : {Order::in_order, Order::any}) {
    for (const bool low : {false, true}) {
      std::atomic<int> highest = 100;
      images_.before_read = [&](std::int64_t) { highest = std::min<int>(highest, own_priority()); };
      const auto pool = start({.workers = 3, .prefetch = 1, .order = order, .batch = 2, .low_priority = low});
      EXPECT_NE(pool->next().data, nullptr);
      EXPECT_EQ(highest, low ? 19 : before);
      EXPECT_EQ(own_priority(), before);
    }
  }
}

TEST_F(PoolTest, AThreadThatMakesItsOwnBatchesKeepsItsPriority) {
  const int before = own_priority();
  const auto pool = start({.workers = 0, .batch = 2, .low_priority = true});
  EXPECT_NE(pool->next().data, nullptr);
  EXPECT_EQ(own_priority(), before);
}

TEST_F(PoolTest, RefusesAnotherNumberOfSlots) {
  std::vector<std::byte*> one(1, nullptr);
  EXPECT_THROW(
      WorkerPool(images_, transform_, {.workers = 2, .prefetch = 2, .batch = 1}, steady_clock(), one, bad_),
      std::logic_error);
}

TEST_F(PoolTest, SaysWhatABatchTook) {
  const auto pool = start({.workers = 1, .prefetch = 2, .batch = 6});
  const Batch batch = pool->next();
  EXPECT_GT(batch.to_ns, batch.from_ns);
  EXPECT_GT(batch.use.cpu_ns, 0);
  EXPECT_EQ(batch.sample_ns.size(), 6U);
  ASSERT_EQ(batch.work_spans.size(), 1U);  // one worker, without a break
  EXPECT_GE(batch.work_spans.front().from_ns, batch.from_ns);
  EXPECT_GT(batch.stages.decode, 0);
  EXPECT_GT(pool->scratch_bytes(), 0);
  pool->give_back(batch);
}

}  // namespace
}  // namespace bench::loader
