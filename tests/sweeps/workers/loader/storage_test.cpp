#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "sweeps/workers/loader/storage.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"

namespace bench::loader {
namespace {

constexpr Storage kLimit{.bytes_per_s = 1e6, .latency_ns = 5'000'000};  // a byte takes 1000 ns

TEST(Reservations, PutTransfersAfterOneAnother) {
  Reservations storage(kLimit);
  EXPECT_DOUBLE_EQ(storage.reserve(0, 2000), 2e6);
  EXPECT_DOUBLE_EQ(storage.reserve(0, 3000), 5e6);
  EXPECT_DOUBLE_EQ(storage.reserve(1e6, 1000), 6e6);
}

TEST(Reservations, DoNotSaveUpIdleTime) {
  Reservations storage(kLimit);
  storage.reserve(0, 1000);
  EXPECT_DOUBLE_EQ(storage.reserve(100e6, 1000), 101e6);
}

TEST(Reservations, KeepTheRateOverManySmallReads) {
  Reservations storage({.bytes_per_s = 3e9, .latency_ns = 0});
  double done = 0;
  for (int i = 0; i < 3'000'000; ++i) {
    done = storage.reserve(0, 1);  // a third of a nanosecond each
  }
  EXPECT_NEAR(done, 1e6, 2);
}

TEST(Reservations, WithoutALimitTakeNoTime) {
  EXPECT_EQ(Reservations({.bytes_per_s = 0, .latency_ns = 5}).reserve(7, 1e9), 7);
}

TEST(ParseStorage, TakesRateAndLatency) {
  EXPECT_EQ(parse_storage("200MB/s,5ms").bytes_per_s, 2e8);
  EXPECT_EQ(parse_storage("200MB/s,5ms").latency_ns, 5'000'000);
  EXPECT_EQ(parse_storage("1GiB/s").latency_ns, 0);
  EXPECT_EQ(parse_storage("1GiB/s,0").latency_ns, 0);
  for (const std::string text :
       {"", "200MB", "200/s", "/s", "200MB/s,", "200MB/s,5", "-1MB/s", "5ms,200MB/s"}) {
    expect_words(message_of<UsageError>([&] { parse_storage(text); }));
  }
}

class Zeros final : public Dataset {
 public:
  std::int64_t size() const override { return 2; }
  std::string name(std::int64_t number) const override { return std::to_string(number); }
  std::int64_t encoded_bytes(std::int64_t /*number*/) const override { return 1000; }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    if (number == 1) {
      throw BadImage("gone");
    }
    bytes.assign(1000, std::byte{0});
  }
  std::optional<std::string> evict(std::int64_t /*number*/) const override { return "never there"; }
};

TEST(Limited, WaitsUntilTheReservedTime) {
  const bench::testing::ManualClock clock;
  const auto data = limited(std::make_unique<Zeros>(), {.bytes_per_s = 1e3, .latency_ns = 5e9}, clock);
  const Clock::time_point start = clock.now();
  std::vector<std::byte> bytes;
  data->read(0, bytes);
  EXPECT_EQ(clock.now() - start, std::chrono::seconds(6));  // 1000 bytes and the latency
  data->read(0, bytes);
  EXPECT_EQ(clock.now() - start, std::chrono::seconds(12));
  EXPECT_EQ(bytes.size(), 1000U);
}

TEST(Limited, PassesAllElseOn) {
  const auto data = limited(std::make_unique<Zeros>(), kLimit, steady_clock());
  std::vector<std::byte> bytes;
  EXPECT_EQ(data->size(), 2);
  EXPECT_EQ(data->name(1), "1");
  EXPECT_EQ(data->encoded_bytes(0), 1000);
  EXPECT_EQ(data->evict(0), "never there");
  EXPECT_THROW(data->read(1, bytes), BadImage);
}

TEST(Limited, NoLongerWaitsOnceItIsCancelled) {
  const bench::testing::ManualClock clock;
  int asked = 0;
  const auto data = limited(std::make_unique<Zeros>(), {.bytes_per_s = 1, .latency_ns = 0}, clock,
                            [&] { return ++asked == 3; });
  const Clock::time_point start = clock.now();
  std::vector<std::byte> bytes;
  data->read(0, bytes);  // a quarter of an hour
  EXPECT_EQ(bytes.size(), 1000U);
  EXPECT_LT(clock.now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace bench::loader
