#include "bench/text/units.h"

#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

TEST(ParseBytes, TakesEveryUnit) {
  EXPECT_EQ(parse_bytes("--memory-cap", "7B"), 7);
  EXPECT_EQ(parse_bytes("--memory-cap", "3KiB"), 3072);
  EXPECT_EQ(parse_bytes("--memory-cap", "512MiB"), 536'870'912);
  EXPECT_EQ(parse_bytes("--memory-cap", "12GiB"), 12'884'901'888);
  EXPECT_EQ(parse_bytes("--memory-cap", "12G"), 12'884'901'888);
  EXPECT_EQ(parse_bytes("--memory-cap", "3k"), 3072);
  EXPECT_EQ(parse_bytes("--memory-cap", "3KB"), 3000);
  EXPECT_EQ(parse_bytes("--memory-cap", "5MB"), 5'000'000);
  EXPECT_EQ(parse_bytes("--memory-cap", "2GB"), 2'000'000'000);
}

TEST(ParseBytes, TakesDecimalsAndOneSpace) {
  EXPECT_EQ(parse_bytes("--memory-cap", "1.5GiB"), 1'610'612'736);
  EXPECT_EQ(parse_bytes("--memory-cap", "0.5KB"), 500);
  EXPECT_EQ(parse_bytes("--memory-cap", "12 GB"), 12'000'000'000);
  EXPECT_EQ(parse_bytes("--memory-cap", "1.1B"), 1);
}

TEST(ParseBytes, KeepsWholeNumbersExact) {
  EXPECT_EQ(parse_bytes("--memory-cap", "9007199254740993B"), 9'007'199'254'740'993);
  EXPECT_EQ(parse_bytes("--memory-cap", "9223372036854775807B"), 9'223'372'036'854'775'807);
}

TEST(ParseBytes, SaysWhatIsAccepted) {
  for (const char* const wrong : {"12",
                                  "1.5",
                                  "12 ",
                                  "-1GiB",
                                  "0GiB",
                                  "0",
                                  "0.4B",
                                  "12XB",
                                  "12gib",
                                  "12GiBs",
                                  "12GiB ",
                                  "1e3GiB",
                                  "12  GiB",
                                  "",
                                  "GiB",
                                  "--1GiB",
                                  ".5GiB",
                                  "1.GiB",
                                  "1.2.3GiB",
                                  "nan",
                                  "infGiB",
                                  "9223372036854775808B",
                                  "8589934592GiB",
                                  "8388608TiB",
                                  "8589934592.5GiB",
                                  "99999999999999999999999GiB"}) {
    expect_words(message_of<UsageError>([&] { parse_bytes("--memory-cap", wrong); }));
  }
}

TEST(ParseDuration, TakesEveryUnit) {
  using namespace std::chrono_literals;
  EXPECT_EQ(parse_duration("--time-budget", "250ms"), 250ms);
  EXPECT_EQ(parse_duration("--time-budget", "60s"), 60s);
  EXPECT_EQ(parse_duration("--time-budget", "1.5min"), 90s);
}

TEST(ParseDuration, SaysWhatIsAccepted) {
  for (const char* const wrong : {"60", "0s", "0.0", "-5s", "1m", "2h", "soon", "9999999999999min"}) {
    expect_words(message_of<UsageError>([&] { parse_duration("--time-budget", wrong); }));
  }
}

TEST(Format, NumbersHaveThreeSignificantDigits) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.012345), "0.0123");
  EXPECT_EQ(format_number(1.234), "1.23");
  EXPECT_EQ(format_number(9.996), "10.0");
  EXPECT_EQ(format_number(41.24), "41.2");
  EXPECT_EQ(format_number(-41.24), "-41.2");
  EXPECT_EQ(format_number(1234.5), "1234");
}

TEST(Format, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1'320'702'444), "1.23 GiB");
  EXPECT_EQ(format_bytes(536'870'912), "512 MiB");
  EXPECT_EQ(format_bytes(-2048), "-2.00 KiB");
  EXPECT_EQ(format_bytes((1LL << 30) - 1), "1.00 GiB");  // rounded, not "1024 MiB"
  EXPECT_EQ(format_bytes(5LL << 50), "5120 TiB");
}

TEST(Format, Durations) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(870), "870 ns");
  EXPECT_EQ(format_duration(1500), "1.50 µs");
  EXPECT_EQ(format_duration(41.2e6), "41.2 ms");
  EXPECT_EQ(format_duration(999.9e6), "1.00 s");
  EXPECT_EQ(format_duration(-2.5e9), "-2.50 s");
  EXPECT_EQ(format_duration(720e9), "12.0 min");
}

TEST(Format, RatesAndPercents) {
  EXPECT_EQ(format_rate(5.1e13, "FLOP/s"), "51.0 TFLOP/s");
  EXPECT_EQ(format_rate(16.3, "samples/s"), "16.3 samples/s");
  EXPECT_EQ(format_percent(0.873), "87 %");
  EXPECT_EQ(format_percent(0.0321), "3.2 %");
  EXPECT_EQ(format_percent(0.0999), "10 %");
  EXPECT_EQ(format_percent(0.0005), "0.1 %");
  EXPECT_EQ(format_percent(0.0004), "<0.1 %");
  EXPECT_EQ(format_percent(0), "0 %");
}

}  // namespace
}  // namespace bench
