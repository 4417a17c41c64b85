// Steps of several cards that a link joins.
#include "bench/advise/step_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/advise/results_advice.h"
#include "bench/error.h"
#include "bench/text/units.h"
#include "tests/bench/advise/advice_files.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/support/cells.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using testing::batch_file;
using testing::change_named;
using testing::fixed_cost_file;
using testing::part_named;

TEST(JoinedCards, WhatSeveralCardsExchangeIsSaidNotToBeCounted) {
  EvaluatedFile file = fixed_cost_file();
  file.document.context.device.kind = "cuda";
  expect_words(advice_from(StepModel({file}), {.batch = 4, .cards = 4}).warnings);
  expect_words(advice_from(StepModel({file}), {.batch = 4}).warnings);
}

StepModel joined(const char* link) {
  EvaluatedFile file = batch_file();
  for (Point& point : file.document.points) {
    point.timeline = even_timeline(point.stats.median_ns, 1, 200e6);
  }
  StepModel model({file});
  const LinkCatalogue links = links_from_json(testing::json_of("links.json"));
  model.join_cards({.link = CardLinks{.inside = links.get("--link", link)}}, links);
  return model;
}

TEST(JoinedCards, MoreCardsPayByTheirLink) {
  const Advice advice = advice_from(joined("nvlink3"), {.batch = 8}, {2, 4});
  const Change* const four = change_named(advice, "cards 1 → 4");
  ASSERT_NE(four, nullptr);
  EXPECT_GT(four->speedup, 3);
  EXPECT_LT(four->speedup, 4);
  EXPECT_LT(four->speedup90->low, four->speedup);
  expect_words(four->setting);
  expect_words(four->costs);
  expect_words(four->evidence);
  // 80 ms a step of 200 MB: 320 ms over the wire for both directions.
  const Advice slow = advice_from(joined("eth-10g"), {.batch = 8}, {2});
  EXPECT_EQ(change_named(slow, "cards 1 → 2"), nullptr);
}

TEST(JoinedCards, WhatCardsExchangeIsAPartOfTheStepAndOnceForAllAccumulations) {
  const StepModel model = joined("eth-10g");
  const double one = model.at({.batch = 8}).parts.step_ns;
  const ModelledStep two = model.at({.batch = 8, .cards = 2});
  EXPECT_NEAR(two.parts.step_ns, one + two.exchanging_ns, 1);
  EXPECT_GT(two.exchanging_ns, 80e6);
  EXPECT_LT(model.at({.batch = 8, .accumulate = 8, .cards = 2}).exchanging_ns, 0.3 * two.exchanging_ns);
  const Advice advice = advice_from(model, {.batch = 8, .cards = 2});
  EXPECT_GT(part_named(advice, "exchanging gradients"), 80e6);
  EXPECT_EQ(name_of(advice.bottleneck), "link");
  expect_words(advice.reason);
  expect_words(advice.warnings);
  // Fewer accumulations keep the effective batch.
  EXPECT_NE(change_named(advice_from(joined("nvlink3"), {.batch = 8, .accumulate = 4}, {2}),
                         "cards 1 → 2, accumulate 4 → 2"),
            nullptr);
}

// Of one CPU: 80 ms a step at batch 8, its gradients within it.
StepModel joined_cpus(CardsLink link) {
  EvaluatedFile file = fixed_cost_file();
  for (Point& point : file.document.points) {
    point.timeline = even_timeline(point.stats.median_ns, 1, 1e6);
  }
  StepModel model({file});
  model.join_cards(std::move(link), links_from_json(testing::json_of("links.json")));
  return model;
}

TEST(JoinedCards, HostsOfOneCpuEachAreConsideredToo) {
  const LinkCatalogue links = links_from_json(testing::json_of("links.json"));
  const StepModel model = joined_cpus({.link = CardLinks{.inside = links.get("--link", "eth-10g")}});
  const Advice advice = advice_from(model, {.batch = 4}, {2});
  EXPECT_EQ(change_named(advice, "cards 1 → 2"), nullptr) << "nobody measured that it pays";
  const auto two = std::ranges::find(advice.tried, "cards 1 → 2", &Change::what);
  ASSERT_NE(two, advice.tried.end());
  EXPECT_TRUE(two->at_most);
  EXPECT_GT(two->speedup, 1.5);
  EXPECT_FALSE(two->speedup90);
  EXPECT_FALSE(two->step90_ns);
  const std::vector<std::string> row = texts_of(advice.tables.front().table.rows.back());
  EXPECT_EQ(row[1], "≥ " + format_duration(two->step_ns));
  EXPECT_THAT(row[2], ::testing::StartsWith("≥ ")) << "a sample";
  EXPECT_THAT(row[3], ::testing::StartsWith("at most "));
  EXPECT_EQ(row[4], "not known");
  expect_words(advice.missing);
  expect_words(two->setting);
  expect_words(two->evidence);
  expect_words(advice.warnings);
  EXPECT_NO_THROW(advice_from(model, {.batch = 4}, {64})) << "hosts of one card each are no limit";
}

TEST(JoinedCards, AMeasuredLinkIsOfTheStepsKindOfDevice) {
  const CardsLink gpus{.link = MeasuredAllReduce{.ranks = 2, .points = {{0, 1e3}, {1e9, 1e9}}},
                       .path = "collectives.json",
                       .device_kind = "cuda"};
  expect_words(message_of<UsageError>([&] { joined_cpus(gpus); }));
  CardsLink cpus = gpus;
  cpus.device_kind = "cpu";
  expect_words(advice_from(joined_cpus(cpus), {.batch = 4}, {2}).warnings);
}

TEST(JoinedCards, ALinkNeedsTheTimesOfGradients) {
  StepModel model({batch_file()});
  model.join_cards({.link = CardLinks{}}, {});
  EXPECT_THROW(advice_from(model, {.batch = 8}, {2}), UsageError);
}

}  // namespace
}  // namespace bench
