#include "bench/predict/cards_prediction.h"

#include <cmath>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/predict/cards_report.h"
#include "bench/stats/statistics.h"
#include "bench/text/lines.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/page/sentences.h"
#include "tests/bench/predict/small_network.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::sentences_of;

constexpr double kMs = 1e6;
constexpr std::int64_t kMiB = 1 << 20;

// 100 ms a step, its gradients, 400 MB, ready at 60, 80 and 95; timed at half that speed.
Point measured(std::int64_t batch, const char* dtype = "fp32") {
  Point point;
  point.name = "batch/small/train";
  point.params = {{"batch", batch}, {"dtype", dtype}};
  point.items_per_step = static_cast<double>(batch);
  point.stats.median_ns = 100 * kMs;
  point.timeline = {.parts = {{.ready_ns = 120 * kMs, .bytes = 100'000'000},
                              {.ready_ns = 160 * kMs, .bytes = 200'000'000},
                              {.ready_ns = 190 * kMs, .bytes = 100'000'000}},
                    .backward_ns = 190 * kMs,
                    .update_ns = 10 * kMs};
  point.memory.by_category[MemoryCategory::weights] = 400 * kMiB;
  point.memory.by_category[MemoryCategory::gradients] = 400 * kMiB;
  point.memory.by_category[MemoryCategory::optimizer] = 800 * kMiB;
  point.memory.by_category[MemoryCategory::activations] = 1000 * kMiB;
  point.memory.peak_measured = 2600 * kMiB;
  return point;
}

ResultDocument result(std::vector<Point> points, const char* kind = "cuda") {
  ResultDocument document;
  document.context.device = {.id = "x", .kind = kind, .name = "Card", .details = {}};
  document.sweep.name = "batch";
  document.sweep.workload = "small";
  document.sweep.mode = "train";
  document.points = std::move(points);
  return document;
}

LinkCatalogue catalogue() {
  return links_from_json(testing::json_of("links.json"));
}

CardsRequest on(const char* link, std::vector<std::int64_t> cards) {
  return {.cards = std::move(cards), .link = {.link = CardLinks{.inside = catalogue().get("--link", link)}}};
}

EvaluatedDevice device_of(const ResultDocument& document) {
  return evaluated_device({.path = "run.json", .document = document});
}

CardsPrediction cards_of(const ResultDocument& document, const CardsRequest& request,
                         const LinkCatalogue& links) {
  CardsPrediction prediction = predict_cards(device_of(document), request, links);
  prediction.workload = workload_of(document);
  return prediction;
}

// A cards sweep's result: one rank in 100 ms, two in `two_ms`, each within 5 %.
ResultDocument of_two_ranks(double two_ms, std::vector<std::string> hosts = {"a", "a"},
                            const char* kind = "cuda") {
  Point two = measured(8);
  two.timeline.reset();
  two.items_per_step = 16;
  two.params["ranks"] = 2;
  two.stats.median_ns = two_ms * kMs;
  ResultDocument document = result({measured(8), two, measured(16)}, kind);
  for (Point& point : document.points) {
    point.stats.ci95_ns = Interval{point.stats.median_ns / 1.05, point.stats.median_ns * 1.05};
  }
  document.sweep.state = {{"cards", {{"hosts", std::move(hosts)}}}};
  return document;
}

TEST(CardsPrediction, ReplaysTheStepAtTheSpeedThatWasMeasured) {
  const LinkCatalogue links = catalogue();
  const CardsPrediction prediction = cards_of(result({measured(8)}), on("pcie4", {2, 4}), links);
  ASSERT_EQ(prediction.steps.size(), 3U);
  EXPECT_EQ(prediction.steps[0].cards, 1);
  EXPECT_DOUBLE_EQ(prediction.steps[0].step_ns, 100 * kMs);
  const CardsStep& two = prediction.steps[1];
  // The last bucket, 100 MB at 23.6 GB/s and two hops of 11 µs, is ready when the backward pass ends. The
  // others, of 100 and 200 MB, take a part of the pass.
  const double of_100_mb = 100e6 / 23.6e9 * 1e9;
  const double slowed = 1 - links.slowed.speed;
  EXPECT_NEAR(two.replay.exposed_ns, (of_100_mb + 22e3) + slowed * (3 * of_100_mb + 44e3), 1);
  EXPECT_NEAR(two.step_ns,
              (100 * kMs + two.replay.exposed_ns) * links.loss("one host", "32-bit", "one")->likely, 1);
  EXPECT_LT(two.step80_ns.low, two.step_ns);
  EXPECT_GT(two.step80_ns.high, two.step_ns);
  EXPECT_GT(prediction.steps[2].replay.exposed_ns, two.replay.exposed_ns);
  EXPECT_NEAR(two.efficiency().value, 100 * kMs / two.step_ns, 1e-9);
}

TEST(CardsPrediction, TheOneCardsIntervalIsInTheStepAndCancelsInTheEfficiency) {
  Point point = measured(8);
  const CardsStep without = cards_of(result({point}), on("pcie4", {2}), catalogue()).steps[1];
  point.stats.ci95_ns = Interval{point.stats.median_ns / 2, point.stats.median_ns * 2};
  const CardsPrediction prediction = cards_of(result({point}), on("pcie4", {2}), catalogue());
  const double own = std::log(2) / kNormal95;
  const CardsStep& one = prediction.steps[0];
  EXPECT_NEAR(std::log(one.step80_ns.high / one.step_ns), kNormal80 * own, 1e-9);
  const CardsStep& two = prediction.steps[1];
  EXPECT_NEAR(std::log(two.step80_ns.high / two.step_ns),
              combined_deviation({std::log(without.step80_ns.high / two.step_ns), kNormal80 * own}), 1e-9);
  EXPECT_LT(two.efficiency().low(), without.efficiency().low()) << "gradients are more of a faster step";
  EXPECT_GT(two.efficiency().low(), 0.8 * without.efficiency().low());
  EXPECT_NEAR(without.efficiency().low(), without.one_ns / without.step80_ns.high, 1e-12);
  expect_words(sentences_of(cards_page(prediction, true)));
}

TEST(CardsPrediction, HostsOfOneCpuEachAreNotRanksOfOne) {
  CardsRequest request = on("nvlink3", {2});
  request.link.link = MeasuredAllReduce{.ranks = 2, .points = {{0, 1000}, {1e9, 500 * kMs}}, .hosts = 2};
  EXPECT_TRUE(cards_of(result({measured(8)}, "cpu"), request, catalogue()).losses.empty());
  const CardsPrediction own = cards_of(of_two_ranks(150, {"a", "b"}, "cpu"), request, catalogue());
  ASSERT_EQ(own.losses.size(), 1U) << "two ranks on two hosts tell of two hosts";
  EXPECT_EQ(own.losses[0].where, "hosts of one CPU each");
}

TEST(CardsPrediction, AccumulatingStepsOnSeveralHostsLoseLess) {
  CardsRequest request = on("nvlink3", {16});
  request.link.link = CardLinks{.inside = catalogue().get("--link", "nvlink3"),
                                .between = catalogue().get("--link", "ib-8x200g"),
                                .per_host = 8};
  Point point = measured(8);
  const CardsPrediction once = cards_of(result({point}), request, catalogue());
  point.params["accumulate"] = 8;
  const CardsPrediction accumulating = cards_of(result({point}), request, catalogue());
  EXPECT_EQ(once.losses[0].micro_batches, "one");
  EXPECT_EQ(accumulating.losses[0].micro_batches, "several");
  EXPECT_LT(accumulating.steps[1].step_ns, once.steps[1].step_ns);
  EXPECT_EQ(accumulating.steps[1].accumulate, 8);
  expect_words(sentences_of(cards_page(accumulating, true)));
}

TEST(CardsPrediction, SaysWhereTheFactorIsExtrapolated) {
  expect_words(
      sentences_of(cards_page(cards_of(result({measured(8)}), on("pcie4", {4}), catalogue()), true)));
  expect_words(
      sentences_of(cards_page(cards_of(result({measured(8)}), on("nvlink4", {2}), catalogue()), true)));
}

TEST(CardsPrediction, SixteenBitNumbersAndSeveralHostsHaveLossesOfTheirOwn) {
  CardsRequest request = on("nvlink3", {8, 16});
  request.link.link = CardLinks{.inside = catalogue().get("--link", "nvlink3"),
                                .between = catalogue().get("--link", "eth-10g"),
                                .per_host = 8};
  const CardsPrediction prediction = cards_of(result({measured(8, "fp16")}), request, catalogue());
  ASSERT_EQ(prediction.losses.size(), 2U);
  EXPECT_EQ(prediction.losses[0].numbers, "16-bit");
  EXPECT_EQ(prediction.losses[1].where, "several hosts");
  EXPECT_GT(prediction.steps[2].replay.exposed_ns, 300 * kMs) << "750 MB at 1.17 GB/s";
}

TEST(CardsPrediction, OnTheCpuNothingIsHidden) {
  CardsRequest request = on("nvlink3", {2});
  request.link.link = MeasuredAllReduce{.ranks = 2, .points = {{0, 1000}, {1e9, 500 * kMs}}};
  const CardsPrediction prediction = cards_of(result({measured(8)}, "cpu"), request, catalogue());
  EXPECT_FALSE(prediction.overlap);
  EXPECT_NEAR(prediction.steps[1].replay.exposed_ns, 200 * kMs, 5000);
  ASSERT_EQ(prediction.losses.size(), 1U);
  EXPECT_EQ(prediction.losses[0].where, "ranks of one CPU");
  EXPECT_DOUBLE_EQ(prediction.steps[1].step_ns,
                   prediction.steps[1].replay.step_ns * prediction.losses[0].likely);
}

TEST(CardsPrediction, TwoRanksOfTheResultTakeThePlaceOfPublishedSteps) {
  const LinkCatalogue links = catalogue();
  const CardsPrediction prediction = cards_of(of_two_ranks(150), on("pcie4", {2, 4}), links);
  ASSERT_EQ(prediction.steps.size(), 6U);
  const CardsStep& two = prediction.steps[1];
  EXPECT_NEAR(two.step_ns, 150 * kMs, 1) << "as measured";
  EXPECT_NEAR(two.exposed_ns() / two.step_ns, two.replay.exposed_ns / two.replay.step_ns, 1e-9);
  EXPECT_LT(two.step80_ns.low, 145 * kMs);
  EXPECT_GT(two.step80_ns.low, 135 * kMs);
  const CardsStep& four = prediction.steps[2];
  EXPECT_NEAR(four.step_ns / four.replay.step_ns, 150 * kMs / two.replay.step_ns, 1e-9);
  const CardsStep& other_batch = prediction.steps[5];
  EXPECT_EQ(other_batch.batch, 16);
  EXPECT_NEAR(other_batch.step_ns / other_batch.replay.step_ns,
              links.loss("one host", "32-bit", "one")->likely, 1e-9)
      << "of which two ranks were not measured";
  ASSERT_EQ(prediction.losses.size(), 2U);
  expect_words(sentences_of(cards_page(prediction, true)));
}

TEST(CardsPrediction, TwoRanksTellOfLinksLikeTheirsAlone) {
  const LinkCatalogue links = catalogue();
  const CardsPrediction apart = cards_of(of_two_ranks(150, {"a", "b"}), on("pcie4", {4}), links);
  EXPECT_NEAR(apart.steps[1].step_ns / apart.steps[1].replay.step_ns,
              links.loss("one host", "32-bit", "one")->likely, 1e-9);
  const CardsPrediction cpu = cards_of(of_two_ranks(150, {"a", "a"}, "cpu"), on("eth-10g", {4}), links);
  EXPECT_TRUE(cpu.losses.empty()) << "hosts of one CPU each, and two ranks shared one";
  ResultDocument single = of_two_ranks(150);
  single.points[1].stats.ci95_ns.reset();
  EXPECT_EQ(cards_of(single, on("pcie4", {4}), links).losses.size(), 1U) << "without an interval";
  ResultDocument odd = of_two_ranks(150);
  odd.points[1].params["ranks"] = "2";
  odd.sweep.state = {{"cards", 1}};
  EXPECT_EQ(cards_of(odd, on("pcie4", {4}), links).losses.size(), 1U);
}

TEST(CardsPrediction, WhatHostsOfOneCpuLoseNobodyMeasured) {
  const CardsPrediction prediction = cards_of(result({measured(8)}, "cpu"), on("eth-10g", {2}), catalogue());
  EXPECT_TRUE(prediction.losses.empty());
  EXPECT_DOUBLE_EQ(prediction.steps[1].step_ns, prediction.steps[1].replay.step_ns);
  const CardsStep& two = prediction.steps[1];
  EXPECT_TRUE(two.at_least);
  const std::string text = page_text(cards_page(prediction, true), 100);
  expect_words(text);
  EXPECT_THAT(cards_csv(prediction), ::testing::EndsWith(",no,yes,,\n"));
  const Json step = Json::parse(cards_json(prediction))["steps"][1];
  EXPECT_EQ(step["is_bound"], true);
  EXPECT_DOUBLE_EQ(step["step_ns"], two.step80_ns.low);
  EXPECT_DOUBLE_EQ(step["samples_per_s"], two.per_s().high());
  EXPECT_FALSE(step.contains("interval80_ns"));
  EXPECT_FALSE(step.contains("efficiency_interval80"));
  EXPECT_FALSE(step["planned_sharded"][0].contains("step_ns_range"));
}

// The same card in machines where a step takes so many ms.
CardsPrediction of_machines(const std::vector<double>& step_ms) {
  std::vector<EvaluatedFile> files;
  for (const double ms : step_ms) {
    Point point = measured(8);
    point.stats.median_ns = ms * kMs;
    ResultDocument document = result({point});
    const std::string number = std::to_string(files.size() + 1);
    document.context.machine = "m" + number;
    document.context.google_benchmark["host_name"] = "node" + number;
    files.push_back({.path = "node" + number + ".json", .document = document});
  }
  CardsPrediction prediction = predict_cards(pooled_devices(files).front(), on("pcie4", {2}), catalogue());
  prediction.workload = "small";
  return prediction;
}

TEST(CardsFleet, IsTheMedianMachinesRowFromTheSlowestToTheFastest) {
  const CardsPrediction fleet = of_machines({100, 101, 99, 102, 130});
  ASSERT_EQ(fleet.steps.size(), 2U);
  EXPECT_DOUBLE_EQ(fleet.steps[0].step_ns, 101 * kMs);
  EXPECT_DOUBLE_EQ(fleet.steps[0].step80_ns.low, 99 * kMs);
  EXPECT_DOUBLE_EQ(fleet.steps[0].step80_ns.high, 130 * kMs);
  EXPECT_GT(fleet.steps[1].step80_ns.high, 130 * kMs);
  expect_words(sentences_of(cards_page(fleet, true)));
  EXPECT_EQ(Json::parse(cards_json(fleet))["machines"].size(), 2U);
}

// 145456 samples/s known to a tenth are 150000.
TEST(CardsReport, PrintsAsManyDigitsAsTheIntervalAllows) {
  Point point = measured(14'545);
  point.stats.ci95_ns = Interval{point.stats.median_ns * 0.8, point.stats.median_ns * 1.25};
  const std::string text =
      page_text(cards_page(cards_of(result({point}), on("pcie4", {2}), catalogue()), true), 100);
  EXPECT_THAT(text, AllOf(HasSubstr(" 145000 "), ::testing::Not(HasSubstr("145450"))));
}

// 80 MB of gradients: from a card's data sheet to two of it.
TEST(CardsPrediction, OfACardThatIsNotHere) {
  const WorkloadType type = testing::small_network();
  PredictionRequest asked;
  asked.workload = &type;
  asked.spec.mode = "train";
  asked.dtypes = parse_predicted_dtypes("--dtype", "fp32");
  asked.batches = {8, 16};
  asked.gpus = {testing::card("t4")};
  const Prediction t4 = predict(asked, testing::catalogue(), testing::coefficients());
  std::vector<std::string> left_out;
  const EvaluatedDevice device = devices_of(t4, asked, testing::coefficients(), left_out).devices.front();
  CardsRequest request = on("pcie3", {2});
  request.at_saturation = true;
  EXPECT_EQ(predict_cards(device, request, catalogue()).steps.size(), 2U);
  request.at_saturation = false;
  CardsPrediction prediction = predict_cards(device, request, catalogue());
  prediction.workload = "small";
  ASSERT_EQ(prediction.steps.size(), 4U);
  const CurvePoint& one = t4.cards[0].curve.points[0];
  const CardsStep& two = prediction.steps[1];
  EXPECT_DOUBLE_EQ(prediction.steps[0].step_ns, one.step.step_ns);
  const ParallelStep step =
      parallel_step({.timeline = even_timeline(one.step.step_ns, 1, 80e6), .step_ns = one.step.step_ns}, 2,
                    request.link, catalogue());
  EXPECT_DOUBLE_EQ(two.step_ns, step.step_ns);
  EXPECT_EQ(two.replay.bytes, 80'000'000) << "20 M parameters in fp32";
  EXPECT_EQ(two.peak, one.memory.peak + 80'000'000) << "DistributedDataParallel's buckets";
  EXPECT_EQ(two.peak80.low, one.memory.peak80.low) << "gradients may be views of them";
  EXPECT_EQ(two.peak80.high, one.memory.peak80.high + 80e6);
  EXPECT_EQ(prediction.steps[0].peak, one.memory.peak) << "one card exchanges nothing";
  EXPECT_GT(two.step80_ns.high / two.step_ns, step.step80_ns.high / step.step_ns)
      << "the one card's error is in it";
  EXPECT_GT(two.efficiency().low() / two.efficiency().value, one.step.interval80_ns.low / one.step.step_ns)
      << "and cancels in the efficiency";
  expect_words(sentences_of(cards_page(prediction, true)));
  EXPECT_EQ(Json::parse(cards_json(prediction))["steps"][0]["is_measured"], false);
}

TEST(CardsPrediction, ChoosesTheBatchesAskedFor) {
  CardsRequest request = on("nvlink3", {2});
  request.batches = {16};
  const ResultDocument document = result({measured(8), measured(16)});
  EXPECT_EQ(cards_of(document, request, catalogue()).steps.size(), 2U);
  request.batches = {32};
  expect_words(message_of<UsageError>([&] { cards_of(document, request, catalogue()); }));
}

TEST(CardsPrediction, AResultWithoutTimelinesIsRefused) {
  Point point = measured(8);
  point.timeline.reset();
  expect_words(message_of<UsageError>([&] { cards_of(result({point}), on("nvlink3", {2}), catalogue()); }));
}

TEST(CardsReport, LinesFitTheScreenWhateverTheNumbers) {
  for (const double step_ms : {0.0942, 1.01, 94.2, 994.4, 123'456.7}) {
    Point point = measured(65'536);
    point.stats.median_ns = step_ms * kMs;
    const CardsPrediction prediction =
        cards_of(result({point}, "cpu"), on("eth-10g", {2, 65'536}), catalogue());
    std::istringstream lines(page_text(cards_page(prediction, true), 100));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns(line), 100U) << line;
    }
  }
}

TEST(CardsReport, SaysWhatIsPredictedAndWhatItRestsOn) {
  const CardsPrediction prediction = cards_of(result({measured(8)}), on("pcie4", {2, 8}), catalogue());
  expect_words(sentences_of(cards_page(prediction, true)));
  EXPECT_THAT(page_markdown(cards_page(prediction, true)), HasSubstr("| cards | dtype |"));
  expect_words(cards_csv(prediction));
  const Json json = Json::parse(cards_json(prediction));
  EXPECT_EQ(json["steps"].size(), 3U);
  EXPECT_EQ(json["steps"][2]["planned_sharded"].size(), 4U);
  EXPECT_EQ(json["steps"][0]["is_measured"], true);
}

}  // namespace
}  // namespace bench
