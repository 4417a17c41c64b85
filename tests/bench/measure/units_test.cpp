#include "bench/measure/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

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

struct BadInput {
  const char* text;
  const char* why;
};

class BadBytes : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadBytes, NamesOptionValueAndWhatIsAccepted) {
  const auto [text, why] = GetParam();
  const std::string given = text;
  EXPECT_THAT([&] { parse_bytes("--memory-cap", given); },
              ThrowsMessage<UsageError>(AllOf(
                  StartsWith("--memory-cap: '" + given + "' "), HasSubstr(why),
                  HasSubstr("give a size such as 512MiB or 12GiB (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)"))));
}

INSTANTIATE_TEST_SUITE_P(
    Units, BadBytes,
    ::testing::Values(BadInput{"12", "has no unit"}, BadInput{"1.5", "has no unit"},
                      BadInput{"12 ", "has no unit"}, BadInput{"-1GiB", "is negative"},
                      BadInput{"0GiB", "is zero"}, BadInput{"0", "is zero"}, BadInput{"0.4B", "is zero"},
                      BadInput{"12XB", "unknown unit 'XB'"}, BadInput{"12gib", "unknown unit 'gib'"},
                      BadInput{"12GiBs", "unknown unit 'GiBs'"}, BadInput{"12GiB ", "unknown unit"},
                      BadInput{"1e3GiB", "unknown unit 'e3GiB'"}, BadInput{"12  GiB", "unknown unit"},
                      BadInput{"", "is not a size"}, BadInput{"GiB", "is not a size"},
                      BadInput{"--1GiB", "is not a size"}, BadInput{".5GiB", "is not a size"},
                      BadInput{"1.GiB", "is not a size"}, BadInput{"1.2.3GiB", "is not a size"},
                      BadInput{"nan", "is not a size"}, BadInput{"infGiB", "is not a size"},
                      BadInput{"9223372036854775808B", "is too large"},
                      BadInput{"8589934592GiB", "is too large"}, BadInput{"8388608TiB", "is too large"},
                      BadInput{"8589934592.5GiB", "is too large"},
                      BadInput{"99999999999999999999999GiB", "is too large"}));

TEST(ParseDuration, TakesEveryUnit) {
  using namespace std::chrono_literals;
  EXPECT_EQ(parse_duration("--time-budget", "250ms"), 250ms);
  EXPECT_EQ(parse_duration("--time-budget", "60s"), 60s);
  EXPECT_EQ(parse_duration("--time-budget", "1.5min"), 90s);
}

class BadDuration : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadDuration, NamesOptionValueAndWhatIsAccepted) {
  const auto [text, why] = GetParam();
  const std::string given = text;
  EXPECT_THAT([&] { parse_duration("--time-budget", given); },
              ThrowsMessage<UsageError>(AllOf(StartsWith("--time-budget: '" + given + "' "), HasSubstr(why),
                                              HasSubstr("500ms, 60s or 2min (ms, s, min)"))));
}

INSTANTIATE_TEST_SUITE_P(Units, BadDuration,
                         ::testing::Values(BadInput{"60", "has no unit"}, BadInput{"0s", "is zero"},
                                           BadInput{"0.0", "is zero"}, BadInput{"-5s", "is negative"},
                                           BadInput{"1m", "did you mean 1ms or 1min?"},
                                           BadInput{"2h", "unknown unit 'h'"},
                                           BadInput{"soon", "is not a time"},
                                           BadInput{"9999999999999min", "is too large"}));

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
