#include "bench/evaluate/evaluated_cards.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/evaluate/evaluation_formats.h"
#include "bench/stats/statistics.h"
#include "tests/bench/evaluate/documents.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/support/golden_words.h"

namespace bench::testing {
namespace {

const LinkCatalogue& links() {
  static const LinkCatalogue links = links_from_json(json_of("links.json"));
  return links;
}

CardsLink link_of(const char* id) {
  return {.link = CardLinks{.inside = links().get("--link", id)}};
}

// Steps of 80 ms at batch 8 with 400 MB of gradients.
ResultDocument predicted_training() {
  ResultDocument document = predicted_document("t4");
  document.sweep.mode = "train";
  add_predicted(document, "fp32", 8, 100, 0.1, 500);
  document.points.back().memory.by_category[MemoryCategory::gradients] = 400'000'000;
  return document;
}

EvaluatedDevices devices_of(const ResultDocument& document) {
  return evaluated_devices({{.path = "file.json", .document = document}});
}

TEST(EvaluatedCards, AreTheSameDeviceSeveralTimes) {
  EvaluatedDevices devices = devices_of(predicted_training());
  add_cards(devices, {1, 2, 4}, {link_of("pcie4")}, links());
  ASSERT_EQ(devices.devices.size(), 3U);
  EXPECT_EQ(devices.devices[1].label, "2×t4");
  EXPECT_EQ(devices.devices[2].cards, 4);
  const OneCard one{.timeline = even_timeline(80e6, 1, 400e6), .step_ns = 80e6};
  const CardsLink joined = link_of("pcie4").of_cards(linked_card(devices.devices[0]));
  const ParallelStep step = parallel_step(one, 2, joined, links());
  const CurvePoint& two = devices.devices[1].curves[0].points[0];
  EXPECT_NEAR(two.per_s, 16e9 / step.step_ns, 1e-6);
  EXPECT_LT(two.per_s, 200);
  const Interval both = widened80(step.step80_ns, step.step_ns, log_deviation({0.8, 1.2}, kNormal80));
  EXPECT_NEAR(two.interval->low, 16e9 / both.high, 1e-6) << "of the card, the link and the factor";
  EXPECT_LT(two.interval->low, 16e9 / step.step80_ns.high);
  EXPECT_GT(two.interval->low, 16e9 / (step.step80_ns.high * 1.2)) << "independent";
  EXPECT_EQ(two.bytes, 400'000'500) << "of each card, with the buckets of its gradients";
  EXPECT_EQ(two.batch, 8);
}

TEST(EvaluatedCards, SayWhichFactorWasUsed) {
  EvaluatedDevices devices = devices_of(predicted_training());
  const LinkCatalogue catalogue = links();
  const std::string used =
      "Steps are " + catalogue.loss("one host", "32-bit", "one")->in_words() + ". Link: ";
  EXPECT_THAT(add_cards(devices, {2, 4}, {link_of("pcie4")}, catalogue),
              ::testing::Contains(::testing::HasSubstr(used)));
}

Ratio ratio_of(const ResultDocument& document, const char* link, std::int64_t cards) {
  EvaluatedDevices devices = devices_of(document);
  add_cards(devices, {cards}, {link_of(link)}, links());
  return throughput_ratio_of(devices.devices[1].curves[0].points[0], devices.devices[0].curves[0].points[0]);
}

TEST(EvaluatedCards, WithoutPeerAccessTheyExchangeThroughTheHost) {
  const ResultDocument t4 = predicted_training();
  ResultDocument geforce = t4;
  geforce.context.datasheet["names"] = {"NVIDIA GeForce RTX 2080 Ti"};
  geforce.context.datasheet["compute_capability"] = 75;
  EXPECT_LT(ratio_of(geforce, "pcie3", 8).value, 0.8 * ratio_of(t4, "pcie3", 8).value);
  EXPECT_EQ(ratio_of(geforce, "nvlink3", 2).value, ratio_of(t4, "nvlink3", 2).value);
  geforce.context.datasheet["compute_capability"] = 61;
  EXPECT_EQ(ratio_of(geforce, "pcie3", 8).value, ratio_of(t4, "pcie3", 8).value) << "before the 20 series";
  geforce.context.datasheet["pcie"]["peer_access"] = false;
  EXPECT_LT(ratio_of(geforce, "pcie3", 8).value, ratio_of(t4, "pcie3", 8).value) << "as the data sheet says";
}

TEST(EvaluatedCards, OverOneCardItsOwnErrorCancels) {
  ResultDocument sure = predicted_training();
  ResultDocument unsure = sure;
  Estimate& step = unsure.points.back().prediction.step_ns;
  step.ci95 = Interval{step.value / 3, step.value * 3};
  const Ratio ratio = ratio_of(unsure, "nvlink3", 4);
  ASSERT_TRUE(ratio.interval);
  EXPECT_LT(ratio.interval->high / ratio.interval->low, 2) << "a factor of 9 between the one card's ends";
  EXPECT_EQ(ratio.value, ratio_of(sure, "nvlink3", 4).value);
  EXPECT_LT(ratio.interval->low, ratio_of(sure, "nvlink3", 4).interval->low)
      << "of a faster card's step, gradients are more";
  EXPECT_LE(ratio.interval->high, 4 / links().loss("one host", "32-bit", "one")->interval80.low + 1e-9);
}

// One card's step errs by a factor of 3; between two of its batches the model errs by 5 % each.
TEST(EvaluatedCards, AtAnotherBatchOfOneCardItsOwnErrorCancelsToo) {
  ResultDocument unsure = predicted_training();
  add_predicted(unsure, "fp32", 16, 110, 0.1, 500);
  for (Point& point : unsure.points) {
    point.memory.by_category[MemoryCategory::gradients] = 400'000'000;
    Estimate& step = point.prediction.step_ns;
    step.ci95 = Interval{step.value / 3, step.value * 3};
    point.prediction.model["batch_deviation"] = 0.05;
  }
  EvaluatedDevices devices = devices_of(unsure);
  add_cards(devices, {2, 4}, {link_of("nvlink3")}, links());
  const auto& one = devices.devices[0].curves[0].points;
  const auto& two = devices.devices[1].curves[0].points;
  const auto& four = devices.devices[2].curves[0].points;
  const Ratio over_one = throughput_ratio_of(two[1], one[1]);
  const Interval speedup = *two[1].cards->speedup().interval;
  EXPECT_NEAR(over_one.low(), speedup.low, 1e-9) << "at the same batch";
  EXPECT_NEAR(over_one.high(), speedup.high, 1e-9);
  const Ratio ratio = throughput_ratio_of(two[1], one[0]);
  EXPECT_NEAR(ratio.value, over_one.value * 1.1, 1e-9);
  const auto below = [](const Ratio& of) { return std::log(of.value / of.low()); };
  EXPECT_NEAR(below(ratio), std::hypot(below(over_one), kNormal80 * 0.05 * std::sqrt(2.0)), 1e-9)
      << "what each batch errs by itself is left";
  EXPECT_NEAR(throughput_ratio_of(one[0], two[1]).high(), 1 / ratio.low(), 1e-9) << "turned over";
  EXPECT_LT(below(throughput_ratio_of(four[1], two[0])), std::log(3.0)) << "several against several";
}

TEST(EvaluatedCards, CostPowerAndPeakAreOfAll) {
  EvaluatedDevices devices = devices_of(predicted_training());
  add_cards(devices, {2}, {link_of("nvlink3")}, links());
  const Evaluation evaluation = evaluate(std::move(devices), parse_prices("t4=0.5/h"), std::nullopt);
  ASSERT_EQ(evaluation.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(*evaluation.rows[1].cost_per_hour, 2 * *evaluation.rows[0].cost_per_hour);
  EXPECT_DOUBLE_EQ(*evaluation.rows[1].power_w, 140);
  EXPECT_LT(*evaluation.rows[1].peak_share, *evaluation.rows[0].peak_share) << "two cards lose something";
  EXPECT_GT(*evaluation.rows[1].cost_per_million, *evaluation.rows[0].cost_per_million);
}

TEST(EvaluatedCards, OfAMeasuredCardNeedItsTimeline) {
  ResultDocument document = batch_document("Card");
  document.sweep.mode = "train";
  document.context.device.kind = "cuda";
  add_measured(document, "fp32", 8, 100);
  EvaluatedDevices without = devices_of(document);
  expect_words(message_of<UsageError>([&] { add_cards(without, {2}, {link_of("pcie4")}, links()); }));
  document.points[0].timeline = even_timeline(80e6, 1, 1e6);
  EvaluatedDevices with = devices_of(document);
  add_cards(with, {2}, {link_of("pcie4")}, links());
  EXPECT_TRUE(with.devices[1].predicted);
}

// Two hosts of one CPU each: what their steps lose beyond the replay, nobody measured.
TEST(EvaluatedCards, WhoseLossNobodyMeasuredHaveBoundsAndWinNothing) {
  ResultDocument document = batch_document("Processor");
  document.sweep.mode = "train";
  document.context.device.kind = "cpu";
  add_measured(document, "fp32", 8, 100);
  document.points[0].timeline = even_timeline(80e6, 1, 1e6);
  EvaluatedDevices devices = devices_of(document);
  ASSERT_TRUE(devices.devices[0].is_cpu);
  expect_words(add_cards(devices, {2}, {link_of("eth-10g")}, links()));
  const CurvePoint& two = devices.devices[1].curves[0].points[0];
  EXPECT_TRUE(two.is_bound);
  EXPECT_FALSE(two.interval);
  EXPECT_GT(two.per_s, 100);
  const Evaluation evaluation = evaluate(std::move(devices), parse_prices("processor=0.5/h"), std::nullopt);
  EXPECT_TRUE(evaluation.rows[1].to_first->is_bound);
  EXPECT_FALSE(evaluation.rows[1].to_first->differs_from_one());
  const auto speed = std::ranges::find(evaluation.answers, "speed", &Answer::question);
  ASSERT_NE(speed, evaluation.answers.end());
  EXPECT_FALSE(speed->ratio);
  const std::string text = page_text(evaluation_page(evaluation, false), 120);
  expect_words(text);
}

TEST(EvaluatedCards, TrainTogether) {
  ResultDocument document = predicted_document("t4");
  add_predicted(document, "fp32", 8, 100);
  EvaluatedDevices devices = devices_of(document);
  expect_words(message_of<UsageError>([&] { add_cards(devices, {2}, {link_of("pcie4")}, links()); }));
}

}  // namespace
}  // namespace bench::testing
