#include "bench/model/parallel_step.h"

#include <cmath>
#include <ctime>

#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr double kMs = 1e6;
constexpr double kMB = 1e6;

Link link(double bytes_per_s, double hop_ns = 0) {
  return {.id = "a",
          .name = "a",
          .hop_ns = hop_ns,
          .bytes_per_s = bytes_per_s,
          .bytes_per_s_range = {bytes_per_s / 2, bytes_per_s * 2},
          .source = "made up"};
}

// 10 ms forward, 20 ms backward, 2 ms update; 4 parts of 30 MB.
GradientTimeline four_parts() {
  GradientTimeline timeline{.parts = {}, .backward_ns = 30 * kMs, .update_ns = 2 * kMs};
  for (const double at : {15.0, 20.0, 25.0, 30.0}) {
    timeline.parts.push_back({.ready_ns = at * kMs, .bytes = 30'000'000});
  }
  return timeline;
}

TEST(RingAllReduce, SendsEachByteNearlyTwice) {
  const CardLinks links{.inside = link(10e9, 1000)};
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 1, 1e9), 0);
  // 2·(4−1) hops and 2·3/4 of 100 MB at 10 GB/s.
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 4, 100 * kMB), 6 * 1000 + 15 * kMs);
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 4, 100 * kMB, Bandwidth::low), 6 * 1000 + 30 * kMs);
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 4, 100 * kMB, Bandwidth::high), 6 * 1000 + 7.5 * kMs);
}

TEST(RingAllReduce, CardsOfAHostShareItsMemory) {
  CardLinks links{.inside = link(10e9)};
  links.inside.of_8_cards = 0.25;
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 2, 100 * kMB), 10 * kMs);
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 4, 100 * kMB), 2 * 15 * kMs);
  links.between = link(100e9);
  links.per_host = 2;
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 4, 100 * kMB), 15 * kMs) << "two of a host";
}

TEST(RingAllReduce, TheLinkBetweenHostsCountsWhereThereAreSeveral) {
  const CardLinks links{.inside = link(100e9, 1000), .between = link(10e9, 5000), .per_host = 4};
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 4, 100 * kMB), 6 * 1000 + 1.5 * kMs);
  // Of 7 hops a way one leaves a host.
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(links, 8, 100 * kMB), 2 * (6 * 1000 + 5000) + 17.5 * kMs);
  const CardLinks single{.inside = link(1e9), .between = link(10e9), .per_host = 1};
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(single, 2, 100 * kMB), 10 * kMs)
      << "no card has a neighbour in its host";
}

TEST(RingAllReduce, PairsOfABridgeExchangeAtTheRateOfTheirBus) {
  CardLinks links{.inside = link(30e9, 1000), .between = {}, .per_host = 0};
  links.inside.id = "nvlink2-bridge";
  Link narrow = link(5e9, 2000);
  narrow.data_sheet_bytes_per_s = 8e9;
  Link wide = link(10e9, 2000);
  wide.data_sheet_bytes_per_s = 16e9;
  links.buses = {narrow, wide};
  const CardsLink joined = CardsLink{.link = links}.of_cards({.bus_bytes_per_s = 16.1e9});
  const auto& bridged = std::get<CardLinks>(joined.link);
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(bridged, 2, 100 * kMB), ring_all_reduce_ns(links, 2, 100 * kMB));
  EXPECT_DOUBLE_EQ(ring_all_reduce_ns(bridged, 4, 100 * kMB),
                   ring_all_reduce_ns({.inside = wide}, 4, 100 * kMB));
  EXPECT_EQ(joined.bytes_per_s(2), 30e9);
  EXPECT_EQ(joined.bytes_per_s(4), 10e9);
}

TEST(CardsLink, ABridgeJoinsTwoCards) {
  CardLinks links{.inside = link(30e9), .between = {}, .per_host = 0};
  links.inside.id = "nvlink2-bridge";
  CardsLink bridge{.link = links};
  EXPECT_TRUE(bridge.cautions({2}).empty());
  ASSERT_EQ(bridge.cautions({2, 4}).size(), 1U);
  EXPECT_TRUE(bridge.cautions({4}).front().starts_with("nvlink2-bridge joins two cards; "));
  links.between = link(1e9);
  links.per_host = 2;
  bridge.link = links;
  EXPECT_TRUE(bridge.cautions({8}).empty()) << "two cards of a host";
  links.per_host = 4;
  bridge.link = links;
  EXPECT_EQ(bridge.cautions({8}).size(), 1U);
}

TEST(MeasuredAllReduce, IsStraightBetweenSizesAndGrowsLikeARing) {
  const MeasuredAllReduce measured{.ranks = 2, .points = {{1000, 10}, {2000, 30}, {4000, 50}}};
  EXPECT_DOUBLE_EQ(measured_all_reduce_ns(measured, 2, 1500), 20);
  EXPECT_DOUBLE_EQ(measured_all_reduce_ns(measured, 2, 3000), 40);
  EXPECT_DOUBLE_EQ(measured_all_reduce_ns(measured, 2, 8000), 90);
  EXPECT_DOUBLE_EQ(measured_all_reduce_ns(measured, 2, 0), 0) << "never below nothing";
  EXPECT_DOUBLE_EQ(measured_all_reduce_ns(measured, 4, 1500), 30) << "2·3/4 over 2·1/2";
  EXPECT_DOUBLE_EQ(measured_all_reduce_ns(measured, 1, 1500), 0);
  const MeasuredAllReduce of_four{.ranks = 4, .points = {{0, 600}, {2000, 900}}};
  EXPECT_DOUBLE_EQ(measured_all_reduce_ns(of_four, 2, 1000), 200 + 100)
      << "one hop of three there and back, and 2·1/2 of a byte in place of 2·3/4";
}

TEST(ReplayedStep, WhatIsAddedUpDuringTheBackwardPassIsHidden) {
  const auto four_ms = [](double) { return 4 * kMs; };
  const ReplayedStep step = replay_step(four_parts(), 1, 1, four_ms);
  EXPECT_EQ(step.buckets, 4U);
  EXPECT_EQ(step.bytes, 120'000'000);
  EXPECT_DOUBLE_EQ(step.all_reduce_ns, 16 * kMs);
  EXPECT_DOUBLE_EQ(step.exposed_ns, 4 * kMs) << "the last bucket is ready when the pass ends";
  EXPECT_DOUBLE_EQ(step.step_ns, 36 * kMs);
}

TEST(ReplayedStep, ABucketWaitsForTheOneBefore) {
  const auto eight_ms = [](double) { return 8 * kMs; };
  const ReplayedStep step = replay_step(four_parts(), 1, 1, eight_ms);
  EXPECT_DOUBLE_EQ(step.exposed_ns, 17 * kMs);  // 15 + 4·8 − 30
}

TEST(ReplayedStep, BucketsGatherNeighboursAndTheLastTakesTheRest) {
  const auto by_size = [](double bytes) { return bytes / kMB * 0.1 * kMs; };
  const ReplayedStep step = replay_step(four_parts(), 50'000'000, 1, by_size);
  EXPECT_EQ(step.buckets, 2U);
  EXPECT_DOUBLE_EQ(step.all_reduce_ns, 12 * kMs);
  EXPECT_DOUBLE_EQ(step.exposed_ns, 6 * kMs);
  EXPECT_EQ(replay_step(four_parts(), 1'000'000'000, 1, by_size).buckets, 1U);
}

TEST(ReplayedStep, NothingIsHiddenWhereTheLinkDoesNotOverlap) {
  const auto four_ms = [](double) { return 4 * kMs; };
  const ReplayedStep step = replay_step(four_parts(), 1, 0, four_ms);
  EXPECT_DOUBLE_EQ(step.exposed_ns, 16 * kMs);
  EXPECT_DOUBLE_EQ(step.step_ns, 48 * kMs);
}

// A part in hand at 15, 20, 25 and 30 ms of computing; each sum of 4 ms takes half of what the pass does.
TEST(ReplayedStep, TheBackwardPassIsSlowerWhileASumIsUnderWay) {
  const auto four_ms = [](double) { return 4 * kMs; };
  const ReplayedStep step = replay_step(four_parts(), 1, 0.5, four_ms);
  // Three sums end before the pass does, and cost 2 ms each; the last comes after it.
  EXPECT_DOUBLE_EQ(step.exposed_ns, 3 * 2 * kMs + 4 * kMs);
  EXPECT_DOUBLE_EQ(step.step_ns, 42 * kMs);
  const auto forty_ms = [](double) { return 40 * kMs; };
  EXPECT_DOUBLE_EQ(replay_step(four_parts(), 1, 0.5, forty_ms).exposed_ns, 145 * kMs)
      << "sums without a pause from 15 ms on, behind which the slower pass hides";
}

TEST(ReplayedStep, AThousandCardsTakeNoTime) {
  const CardLinks links{.inside = link(100e9, 1000), .between = link(10e9, 5000), .per_host = 8};
  GradientTimeline timeline{.parts = {}, .backward_ns = 1000 * kMs, .update_ns = 0};
  for (int i = 1; i <= 1000; ++i) {
    timeline.parts.push_back({.ready_ns = i * kMs, .bytes = 30'000'000});
  }
  const std::clock_t start = std::clock();  // of this process: other programs do not count
  const ReplayedStep step =
      replay_step(timeline, 1, 1, [&](double bytes) { return ring_all_reduce_ns(links, 1024, bytes); });
  EXPECT_EQ(step.buckets, 1000U);
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);
}

// 80 ms and 40 MB of gradients.
OneCard of_80_ms(bool overlap, std::int64_t accumulate = 1) {
  return {.timeline = even_timeline(80 * kMs, 1, 40 * kMB),
          .step_ns = 80 * kMs,
          .overlap = overlap,
          .accumulate = accumulate};
}

TEST(ParallelStep, LossesAreByPlaceNumbersAndMicroBatches) {
  const LinkCatalogue catalogue{
      .links = {},
      .losses = {{.where = "one host", .numbers = "32-bit", .micro_batches = "", .likely = 1.1},
                 {.where = "several hosts", .numbers = "32-bit", .micro_batches = "one", .likely = 1.2},
                 {.where = "several hosts", .numbers = "32-bit", .micro_batches = "several", .likely = 1.05},
                 {.where = "ranks of one CPU", .numbers = "", .micro_batches = "", .likely = 1.3}}};
  const auto loss = [&](const OneCard& one, const CardsLink& joined, std::int64_t cards) {
    const ParallelStep step = parallel_step(one, cards, joined, catalogue);
    return step.loss == nullptr ? 0 : step.loss->likely;
  };
  const CardsLink near{.link = CardLinks{.inside = link(10e9)}};
  const CardsLink hosts{.link = CardLinks{.inside = link(10e9), .between = link(1e9), .per_host = 4}};
  EXPECT_EQ(loss(of_80_ms(true), near, 8), 1.1);
  EXPECT_EQ(loss(of_80_ms(true, 8), near, 8), 1.1) << "any number of micro-batches";
  EXPECT_EQ(loss(of_80_ms(true), hosts, 4), 1.1);
  EXPECT_EQ(loss(of_80_ms(true), hosts, 8), 1.2);
  EXPECT_EQ(loss(of_80_ms(true, 8), hosts, 8), 1.05);
  MeasuredAllReduce measured{.ranks = 2, .points = {{0, 0}, {1e9, 1e9}}};
  EXPECT_EQ(loss(of_80_ms(true), {.link = measured}, 2), 1.1);
  EXPECT_EQ(loss(of_80_ms(false), {.link = measured}, 2), 1.3);
  measured.hosts = 2;
  EXPECT_EQ(loss(of_80_ms(true), {.link = measured}, 2), 1.2);
  EXPECT_EQ(loss(of_80_ms(false), {.link = measured}, 2), 0) << "hosts of one CPU each: nobody measured it";
  EXPECT_EQ(loss(of_80_ms(false), near, 2), 0);
}

TEST(ParallelStep, SumsOverSlowLinksMaySlowTheBackwardPassLess) {
  LinkCatalogue catalogue{
      .links = {}, .losses = {}, .slowed = {.where = "one host", .speed = 0.2, .from_bytes_per_s = 20e9}};
  const auto two_cards = [&](double bytes_per_s, std::int64_t per_host) {
    Link inside = link(bytes_per_s);
    inside.bytes_per_s_range = {bytes_per_s, bytes_per_s};
    const CardsLink joined{.link = CardLinks{.inside = inside, .between = inside, .per_host = per_host},
                           .bucket = 1};
    return parallel_step(of_80_ms(true), 2, joined, catalogue);
  };
  const auto slower = [](const ParallelStep& step) {
    const double last = step.replay.all_reduce_ns / static_cast<double>(step.replay.buckets);
    return (step.replay.exposed_ns - last) / (step.replay.all_reduce_ns - last);
  };
  EXPECT_NEAR(slower(two_cards(40e9, 2)), 0.8, 1e-9);
  EXPECT_EQ(two_cards(40e9, 2).step80_ns.low, two_cards(40e9, 2).step80_ns.high);
  const ParallelStep slow = two_cards(10e9, 2);
  EXPECT_NEAR(slower(slow), 0.8, 1e-9) << "half the rate";
  EXPECT_LT(slow.step80_ns.low, slow.step_ns);
  EXPECT_EQ(slow.step80_ns.high, slow.step_ns) << "no more than over fast ones";
  EXPECT_NEAR(slower(two_cards(40e9, 1)), 0, 1e-9) << "several hosts";
  MeasuredAllReduce measured{.ranks = 2, .points = {{0, 0}, {1e9, 100 * kMs}}};
  EXPECT_NEAR(slower(parallel_step(of_80_ms(true), 2, {.link = measured, .bucket = 1}, catalogue)), 0.8, 1e-9)
      << "10 GB/s as measured";
}

// The link's range alone moves the step by a, the factor's by b: both by the root of a² + b².
TEST(ParallelStep, WhatIsNotKnownOfLinkAndLossAddsUpAsSquares) {
  const auto width = [](const Interval& rates, const Interval& loss80) {
    Link inside = link(10e9);
    inside.bytes_per_s_range = rates;
    const LinkCatalogue catalogue{
        .links = {}, .losses = {{.where = "one host", .numbers = "32-bit", .interval80 = loss80}}};
    OneCard one = of_80_ms(true);
    one.timeline = even_timeline(80 * kMs, 1, 4000 * kMB);
    const ParallelStep step = parallel_step(one, 2, {.link = CardLinks{.inside = inside}}, catalogue);
    return std::log(step.step80_ns.high / step.step_ns);
  };
  const double of_link = width({5e9, 20e9}, {1, 1});
  const double of_loss = width({10e9, 10e9}, {0.9, 1.3});
  EXPECT_NEAR(of_loss, std::log(1.3), 1e-9);
  EXPECT_NEAR(width({5e9, 20e9}, {0.9, 1.3}), std::hypot(of_link, of_loss), 1e-9);
}

TEST(CardsLink, TellsHowManyCardsAHostHas) {
  const CardsLink hosts{.link = CardLinks{.inside = link(10e9), .between = link(1e9), .per_host = 4}};
  EXPECT_EQ(hosts.cards_of_a_host(2, false), 2);
  EXPECT_EQ(hosts.cards_of_a_host(16, false), 4);
  EXPECT_EQ(hosts.cards_of_a_host(16, true), 1);
  EXPECT_EQ(
      (CardsLink{.link = MeasuredAllReduce{.ranks = 4, .points = {}, .hosts = 2}}.cards_of_a_host(8, true)),
      2);
}

}  // namespace
}  // namespace bench
