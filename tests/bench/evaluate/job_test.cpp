#include "bench/evaluate/job.h"

#include <cmath>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/evaluate/evaluation_formats.h"
#include "tests/bench/evaluate/documents.h"
#include "tests/bench/support/golden_words.h"

namespace bench::testing {
namespace {

// Its ratio to another such card has an interval of ± 10 %, its steps one of ± 20 %.
ResultDocument card(const std::string& id, double per_s, double power_w = 100) {
  ResultDocument document = predicted_document(id, power_w);
  add_predicted(document, "fp16", 64, per_s, 0.1, 100);
  return document;
}

Evaluation job_on(const std::vector<ResultDocument>& documents, const std::string& prices,
                  const std::string& samples, std::optional<double> kwh = std::nullopt,
                  std::optional<ResultDocument> workers = std::nullopt) {
  PriceList list = prices.empty() ? PriceList{} : parse_prices(prices);
  list.kwh = kwh;
  return evaluated(documents, list, std::move(workers), job_of_samples(samples));
}

TEST(Job, TakesNumbersWithAUnit) {
  EXPECT_DOUBLE_EQ(parse_samples("--samples", "115.2M"), 115.2e6);
  EXPECT_DOUBLE_EQ(parse_samples("--samples", "50000"), 50000);
  EXPECT_DOUBLE_EQ(parse_samples("--samples", "50k"), 50000);
  EXPECT_DOUBLE_EQ(parse_samples("--samples", "2G"), 2e9);
  EXPECT_DOUBLE_EQ(job_of_epochs("90", "1.28M").samples, 115.2e6);
  EXPECT_EQ(job_of_epochs("90", "1.28M").words, "90 epochs of 1.28M samples");
  for (const char* const text : {"", "M", "-1", "0", "1.2.3M", "1 M", "1MM", "many", "inf", "9999999999G"}) {
    expect_words(message_of<UsageError>([&] { parse_samples("--samples", text); }));
  }
  expect_words(message_of<UsageError>([] { job_of_epochs("0", "1M"); }));
}

// 115.2 million samples at 280 a second are 114.3 hours, which cost 40 at 0.35 an hour; 280 pay for 800
// hours.
TEST(Job, CostsItsHoursOfHireOrThePurchase) {
  const Evaluation evaluation =
      job_on({card("t4", 280), card("rtx3060", 280)}, "t4=0.35/h,rtx3060=280", "115.2M");
  ASSERT_EQ(evaluation.on_devices.size(), 2U);
  const DeviceJob& hired = evaluation.on_devices[0];
  const DeviceJob& bought = evaluation.on_devices[1];
  EXPECT_NEAR(hired.hours.value, 114.29, 0.01);
  EXPECT_NEAR(hired.hours.ci95->low, 0.8 * 114.29, 0.01);
  EXPECT_NEAR(hired.hours.ci95->high, 1.2 * 114.29, 0.01);
  EXPECT_NEAR(hired.cost->value, 40, 1e-9);
  EXPECT_NEAR(hired.cost->ci95->high, 48, 1e-9);
  EXPECT_NEAR(*hired.kwh, 11.43, 0.01);
  EXPECT_DOUBLE_EQ(bought.cost->value, 280);
  EXPECT_FALSE(bought.cost->ci95);
  const auto even = break_evens_of(evaluation);
  ASSERT_EQ(even.size(), 1U);
  EXPECT_NEAR(even[0].hours.value, 800, 1e-9);
  EXPECT_NEAR(even[0].hours.ci95->low * even[0].hours.ci95->high, 800.0 * 800, 1e-3);
  expect_words(claim(evaluation, "job"));
  EXPECT_EQ(evaluation.answers.front().question, "job");
}

TEST(Job, AddsEnergyToAPurchaseAlone) {
  // 100 W at 0.5 a kWh are 0.05 an hour: 280 / (0.35 · 2 − 0.05) hours on a card twice as fast.
  const Evaluation evaluation =
      job_on({card("t4", 280), card("fast", 560)}, "t4=0.35/h,fast=280", "115.2M", 0.5);
  EXPECT_NEAR(evaluation.on_devices[0].cost->value, 40, 1e-9);
  EXPECT_NEAR(evaluation.on_devices[1].cost->value, 280 + 0.05 * 57.143, 1e-3);
  EXPECT_NEAR(break_evens_of(evaluation)[0].hours.value, 280 / 0.65, 1e-9);
}

TEST(Job, SaysToBuyForALongOne) {
  expect_words(claim(job_on({card("t4", 280), card("rtx3060", 280)}, "t4=$0.35/h,rtx3060=280", "2G"), "job"));
}

TEST(Job, SaysWhereIntervalsDoNotDecide) {
  // 780 hours, of a break-even at 800.
  const Evaluation open =
      job_on({card("t4", 280), card("rtx3060", 280)}, "t4=0.35EUR/h,rtx3060=280EUR", "786M");
  expect_words(claim(open, "job"));
  // Two hires by their ratio: ± 10 %.
  expect_words(claim(job_on({card("a", 100), card("b", 105)}, "a=1/h,b=1/h", "1M"), "job"));
  expect_words(claim(job_on({card("a", 100), card("b", 130)}, "a=1/h,b=1/h", "1M"), "job"));
  expect_words(
      claim(job_on({card("a", 100), card("b", 105), card("c", 300)}, "a=1/h,b=1/h,c=5/h", "1M"), "job"));
}

TEST(Job, OfPurchasesAndOfOneDevice) {
  expect_words(claim(job_on({card("a", 100), card("b", 105)}, "a=500,b=300", "1M"), "job"));
  expect_words(claim(job_on({card("a", 100)}, "a=500", "1M"), "job"));
  expect_words(claim(job_on({card("a", 100), card("b", 105)}, "b=$0.5/h", "1M"), "job"));
}

TEST(Job, WithoutPricesTakesHours) {
  const Evaluation evaluation = job_on({card("a", 100), card("b", 200)}, "", "36M");
  expect_words(claim(evaluation, "job"));
  EXPECT_FALSE(evaluation.on_devices[0].cost);
  expect_words(page_text(evaluation_page(evaluation, false), 100));
}

TEST(Job, NeverPaysWhereEnergyCostsMoreThanHire) {
  expect_words(
      claim(job_on({card("t4", 280), card("old", 70, 400)}, "t4=0.1/h,old=100", "115.2M", 0.5), "job"));
  // 0.1 · 2.05 an hour of hire, 0.2 of energy: the interval of the ratio reaches below.
  const Evaluation open = job_on({card("t4", 280), card("old", 574, 400)}, "t4=0.1/h,old=100", "115.2M", 0.5);
  EXPECT_TRUE(std::isinf(break_evens_of(open)[0].hours.ci95->high));
  expect_words(claim(open, "job"));
}

TEST(Job, IsOfSamplesThatTheHostFeeds) {
  const Evaluation evaluation = job_on({card("slow", 100), card("fast", 900)}, "slow=0.36/h,fast=0.36/h",
                                       "1.08M", std::nullopt, workers_document(300, 2));
  EXPECT_DOUBLE_EQ(evaluation.on_devices[0].hours.value, 3);
  EXPECT_DOUBLE_EQ(evaluation.on_devices[1].hours.value, 1);
}

TEST(Job, RunsInTheFastestDtypeOfADeviceThatLacksTheOthers) {
  ResultDocument cpu = batch_document("a cpu");
  add_measured(cpu, "fp32", 1, 10);
  add_measured(cpu, "bf16", 1, 20);
  const Evaluation evaluation = job_on({card("a", 100), card("b", 200), cpu}, "", "36M");
  ASSERT_EQ(evaluation.on_devices.size(), 3U);
  EXPECT_EQ(evaluation.rows[evaluation.on_devices[2].row].dtype, "bf16");
  EXPECT_DOUBLE_EQ(evaluation.on_devices[2].hours.value, 500);
}

TEST(Cost, SaysForHowManyHoursOfUseItHolds) {
  const std::vector<ResultDocument> cards{card("t4", 280), card("rtx3060", 280)};
  expect_words(claim(evaluated(cards, parse_prices("t4=$0.35/h,rtx3060=280")), "cost"));
  expect_words(claim(evaluated(cards, parse_prices("t4=$0.01/h,rtx3060=280")), "cost"));
  expect_words(claim(evaluated(cards, parse_prices("t4=$500,rtx3060=280")), "cost"));
}

}  // namespace
}  // namespace bench::testing
