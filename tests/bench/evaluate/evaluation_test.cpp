#include "bench/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/evaluate/evaluation_formats.h"
#include "bench/evaluate/evaluation_words.h"
#include "tests/bench/evaluate/documents.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/model/worked_steps.h"
#include "tests/bench/support/golden_words.h"

namespace bench::testing {
namespace {

ResultDocument predicted_card(const std::string& id, double fp32, double fp16, double power_w = 70) {
  ResultDocument document = predicted_document(id, power_w);
  for (const std::int64_t batch : {1, 2, 4}) {
    const double share = batch == 1 ? 0.5 : 1;  // saturates at batch 2
    add_predicted(document, "fp32", batch, share * fp32, 0.1, 100 + 20 * batch);
    add_predicted(document, "fp16", batch, share * fp16, 0.1, 100 + 10 * batch);
  }
  return document;
}

// `deviation` of the device's own, and of its host.
CurvePoint predicted_at(double per_s, double deviation, double host = 0) {
  return {.per_s = per_s,
          .interval = Interval{0.75 * per_s, 1.3 * per_s},
          .is_predicted = true,
          .framework = "pytorch",
          .ratio_deviation = deviation,
          .step = {.interval80_ns = {}, .host_deviation = host}};
}

TEST(ThroughputRatio, OfTwoPredictionsHasOnlyTheErrorsThatTheyDoNotShare) {
  Ratio ratio = throughput_ratio_of(predicted_at(200, 0.03), predicted_at(100, 0.04));
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_NEAR(ratio.interval->low, 2 / std::exp(1.2816 * 0.05), 1e-9);
  EXPECT_NEAR(ratio.interval->high, 2 * std::exp(1.2816 * 0.05), 1e-9);
  EXPECT_TRUE(ratio.is_predicted());
  ratio = throughput_ratio_of(predicted_at(200, 0, 0.2), predicted_at(100, 0, 0.2));  // one host
  EXPECT_NEAR(ratio.interval->high, 2, 1e-9);
  ratio = throughput_ratio_of(predicted_at(200, 0, 0.3), predicted_at(100, 0, 0.2));
  EXPECT_NEAR(ratio.interval->high, 2 * std::exp(1.2816 * 0.1), 1e-9);
}

// A step of published terms, as a point.
CurvePoint step_on(const char* card, const char* worked, const StepSetting& setting,
                   GpuEvidence evidence = {}) {
  const GpuModel model(testing::card(card), Framework::pytorch, testing::coefficients(), evidence);
  const std::vector<WorkedStep> steps = worked_steps();
  const auto found =
      std::ranges::find_if(steps, [&](const WorkedStep& step) { return step.name.starts_with(worked); });
  return predicted_point(1, 1, model.step(found->terms(), setting), {}, 0);
}

double width_of(const Ratio& ratio) {
  return std::log(ratio.interval->high / ratio.value);
}

TEST(ThroughputRatio, CountsTheErrorThatTwoCardsShareOnce) {
  const auto on = [](const char* card) {
    return step_on(card, "resnet50, infer, amp, nchw", {.dtype = Dtype::fp16}, {.host_launch_s = 20e-6});
  };
  const CurvePoint rtx4090 = on("rtx4090");
  const CurvePoint rtx3090 = on("rtx3090");
  const Ratio ratio = throughput_ratio_of(rtx4090, rtx3090);
  EXPECT_NEAR(ratio.value, rtx3090.step.step_ns / rtx4090.step.step_ns, 1e-12);
  const double half_width = testing::coefficients().image.ratio_half_width;
  EXPECT_NEAR(width_of(ratio), half_width, 1e-3);
  EXPECT_NEAR(width_of(inverse(ratio)), half_width, 1e-3);
  EXPECT_LT(half_width, 1.2816 * std::hypot(rtx4090.step.deviation, rtx3090.step.deviation));
  EXPECT_GT(width_of(throughput_ratio_of(on("rtx5090"), rtx4090)), 1.1 * half_width)
      << "of a generation that was not measured, more is not known";
}

TEST(ThroughputRatio, AnUnknownHostStaysWhereItLimitsOneCardAlone) {
  const auto width = [](const char* a, const char* b) {
    const StepSetting setting{.dtype = Dtype::fp16, .channels_last = true};
    return width_of(
        throughput_ratio_of(step_on(a, "efficientnet_b0", setting), step_on(b, "efficientnet_b0", setting)));
  };
  EXPECT_GT(width("rtx4090", "rtx3060-12gb"), 1.1 * width("rtx2060", "rtx3060-12gb"));
}

TEST(ThroughputRatio, OfTwoFrameworksSharesNothing) {
  CurvePoint compiled = predicted_at(200, 0.03);
  compiled.framework = "pytorch-compiled";
  EXPECT_DOUBLE_EQ(throughput_ratio_of(compiled, predicted_at(100, 0.03)).interval->low, 150.0 / 130);
}

TEST(ThroughputRatio, OfAMeasurementReachesFromEndToEnd) {
  const CurvePoint a = predicted_at(200, 0.03);
  CurvePoint b{.per_s = 100, .interval = Interval{90, 120}};
  EXPECT_DOUBLE_EQ(throughput_ratio_of(a, b).interval->low, 1.25);
  EXPECT_DOUBLE_EQ(throughput_ratio_of(a, b).interval->high, 260.0 / 90);
  EXPECT_TRUE(throughput_ratio_of(a, b).is_predicted());
  b.interval.reset();
  EXPECT_FALSE(throughput_ratio_of(a, b).interval);
  EXPECT_FALSE(throughput_ratio_of(a, b).differs_from_one());
}

TEST(Gain, SharesTheHostsErrorAlone) {
  const Ratio gain = gain_of(predicted_at(200, 0.03), predicted_at(100, 0.03));
  EXPECT_NEAR(gain.interval->high, 2 * std::exp(std::sqrt(2.0) * std::log(1 / 0.75)), 1e-9);
  EXPECT_NEAR(gain.interval->low, 2 / std::exp(std::sqrt(2.0) * std::log(1 / 0.75)), 1e-9);
  EXPECT_LT(gain_of(predicted_at(200, 0.03, 0.1), predicted_at(100, 0.03, 0.1)).interval->high,
            gain.interval->high);
}

TEST(RatioInWords, KeepsTheDigitsOfItsInterval) {
  EXPECT_EQ(ratio_in_words({.value = 1.43, .interval = Interval{1.12, 1.84}}), "1.4× (1.1–1.8×)");
  EXPECT_EQ(ratio_in_words({.value = 4.219, .interval = Interval{4.219, 4.219}}), "4.22×");
  EXPECT_EQ(ratio_in_words({.value = 1.053, .interval = Interval{0.86, 1.27}}), "1.05× (0.86–1.27×)");
  EXPECT_EQ(ratio_in_words({.value = 1.4, .interval = Interval{1.02, 1.9}}), "1.40× (1.02–1.90×)");
  EXPECT_EQ(ratio_in_words({.value = 40, .interval = Interval{30, 52}}), "40× (30–52×)");
  EXPECT_EQ(ratio_in_words({.value = 1.43}), "1.43×");
}

TEST(Evaluation, SaysWhichOfTwoIsFaster) {
  const Evaluation evaluation = evaluated({predicted_card("slow", 40, 100), predicted_card("fast", 60, 150)});
  EXPECT_EQ(evaluation.dtype, "fp16");
  EXPECT_EQ(claim(evaluation, "speed"), "fast is 1.50× (1.36–1.66×) slow in fp16, at batch 2.");
  EXPECT_EQ(claim(evaluation, "speed", "fp32"), "fast is 1.50× (1.36–1.66×) slow in fp32, at batch 2.");
  EXPECT_EQ(evaluation.answers.front().question, "speed");
  EXPECT_EQ(evaluation.answers.front().headline, 1);
  EXPECT_DOUBLE_EQ(evaluation.row(1, "fp16")->to_first->value, 1.5);
  EXPECT_FALSE(evaluation.row(0, "fp16")->to_first);
}

TEST(Evaluation, SaysWhereThereIsNotEnoughEvidence) {
  const Evaluation evaluation = evaluated({predicted_card("one", 40, 100), predicted_card("other", 42, 105)});
  expect_words(claim(evaluation, "speed"));
}

TEST(Evaluation, RanksMoreThanTwo) {
  const Evaluation evaluation =
      evaluated({predicted_card("a", 40, 100), predicted_card("b", 42, 105), predicted_card("c", 80, 200)});
  expect_words(claim(evaluation, "speed"));
  const Evaluation tied =
      evaluated({predicted_card("a", 40, 50), predicted_card("b", 42, 195), predicted_card("c", 80, 200)});
  expect_words(claim(tied, "speed"));
}

TEST(Evaluation, AnEquallyFastDtypeIsNoAnswerOfItsOwn) {
  ResultDocument two = predicted_card("two", 40, 100);
  add_predicted(two, "bf16", 2, 100, 0.1, 120);
  EXPECT_EQ(claim(evaluated({predicted_card("one", 40, 90), two}), "best dtype"), "");
}

TEST(Evaluation, NamesTheFirstOfManyDevices) {
  std::vector<ResultDocument> documents;
  for (const char* const id : {"a", "b", "c", "d", "e", "f"}) {
    documents.push_back(predicted_card(id, 40, 100));
  }
  expect_words(claim(evaluated(documents), "gain"));
}

TEST(Evaluation, SaysWhatEachHolds) {
  const Evaluation evaluation = evaluated({predicted_card("one", 40, 100), predicted_card("other", 42, 105)});
  EXPECT_EQ(claim(evaluation, "memory"), "Both hold the same batch in fp16, 80.");
  EXPECT_DOUBLE_EQ(evaluation.row(0, "fp16")->memory_share.value(), 120.0 / 900);
}

TEST(Evaluation, ComparesCosts) {
  const Evaluation evaluation = evaluated({predicted_card("one", 40, 100), predicted_card("other", 42, 200)},
                                          parse_prices("one=$0.36/h,Alias-of-other=$0.36/h"));
  // 100 samples/s for 0.36 an hour: a million take 10,000 s, 1 $.
  EXPECT_DOUBLE_EQ(evaluation.row(0, "fp16")->cost_per_million.value(), 1);
  EXPECT_EQ(claim(evaluation, "cost"),
            "other is cheaper in fp16: $0.500 for a million samples; $1.00 on one, 2.00× (1.81–2.21×).");
  const Evaluation same = evaluated({predicted_card("one", 40, 100), predicted_card("other", 42, 200)},
                                    parse_prices("one=$0.36/h,other=$0.72/h"));
  expect_words(claim(same, "cost"));
}

TEST(Evaluation, RefusesAPriceOfAnotherDevice) {
  EXPECT_THROW(evaluated({predicted_card("one", 40, 100)}, parse_prices("two=$0.36/h")), UsageError);
}

TEST(Evaluation, TakesMeasuredPowerBeforeTheDataSheets) {
  ResultDocument measured = predicted_document("t4", 70);
  measured.context.device.name = "Tesla T4";
  add_measured(measured, "fp16", 2, 100);
  measured.points.front().validity.power_w = 50;
  const Evaluation evaluation = evaluated({measured, predicted_card("other", 42, 100, 200)});
  EXPECT_DOUBLE_EQ(evaluation.row(0, "fp16")->joules_per_sample.value(), 0.5);
  EXPECT_TRUE(evaluation.row(0, "fp16")->power_measured);
  EXPECT_DOUBLE_EQ(evaluation.row(1, "fp16")->joules_per_sample.value(), 2);
  EXPECT_FALSE(evaluation.row(1, "fp16")->power_measured);
  expect_words(claim(evaluation, "energy"));
  expect_words(evaluation.notes);
}

TEST(Evaluation, ReportsTheShareOfThePeakAndTheGain) {
  const Evaluation evaluation = evaluated({predicted_card("one", 40, 100)});
  EXPECT_DOUBLE_EQ(evaluation.row(0, "fp16")->peak_share.value(), 100e9 / 4e12);
  EXPECT_DOUBLE_EQ(evaluation.row(0, "fp32")->peak_share.value(), 40e9 / 1e12);
  EXPECT_DOUBLE_EQ(evaluation.row(0, "fp16")->over_fp32->value, 2.5);
  expect_words(claim(evaluation, "gain"));
}

TEST(Evaluation, LimitsDevicesToWhatTheHostFeeds) {
  const Evaluation evaluation = evaluated({predicted_card("slow", 40, 100), predicted_card("fast", 60, 900)},
                                          parse_prices("slow=0.36/h,fast=0.36/h"), workers_document(300, 2));
  EXPECT_EQ(evaluation.row(0, "fp16")->feed->limit, FeedLimit::device);
  EXPECT_DOUBLE_EQ(evaluation.row(0, "fp16")->feed->per_s, 100);
  EXPECT_EQ(evaluation.row(1, "fp16")->feed->limit, FeedLimit::loader);
  EXPECT_DOUBLE_EQ(evaluation.row(1, "fp16")->feed->per_s, 300);
  EXPECT_DOUBLE_EQ(evaluation.row(1, "fp16")->cores_to_feed.value(), 6);
  EXPECT_DOUBLE_EQ(evaluation.row(1, "fp16")->cost_per_million.value(), 1.0 / 3);
  expect_words(claim(evaluation, "host"));
}

TEST(Evaluation, ComparesDevicesThatOneLoaderLimitsByPriceAlone) {
  const Evaluation evaluation = evaluated({predicted_card("one", 40, 400), predicted_card("other", 60, 900)},
                                          parse_prices("one=1/h,other=2/h"), workers_document(300, 2));
  const auto cost = std::ranges::find(evaluation.answers, "cost", &Answer::question);
  ASSERT_NE(cost, evaluation.answers.end());
  EXPECT_DOUBLE_EQ(cost->ratio->interval->low, 2);
  EXPECT_DOUBLE_EQ(cost->ratio->interval->high, 2);
}

TEST(Evaluation, RefusesALoaderOfOtherImages) {
  ResultDocument workers = workers_document(300, 2);
  workers.sweep.workload_options["image-size"] = "256";
  EXPECT_THROW(evaluated({predicted_card("one", 40, 100)}, {}, workers), UsageError);
  workers = workers_document(300, 2);
  workers.sweep.state.clear();
  EXPECT_THROW(evaluated({predicted_card("one", 40, 100)}, {}, workers), UsageError);
  ResultDocument text = predicted_card("one", 40, 100);
  text.sweep.workload_options.erase("image-size");
  EXPECT_THROW(evaluated({text}, {}, workers_document(300, 2)), UsageError);
}

TEST(Feed, IsTheLeastOfDeviceLoaderAndBus) {
  EXPECT_EQ(feed_of(100, 200, 300).limit, FeedLimit::device);
  EXPECT_EQ(feed_of(300, 200, 300).limit, FeedLimit::loader);
  EXPECT_EQ(feed_of(300, 200, 100).limit, FeedLimit::bus);
  EXPECT_DOUBLE_EQ(feed_of(300, 200, 100).per_s, 100);
  EXPECT_EQ(feed_of(100, 200, std::nullopt).limit, FeedLimit::device);
}

TEST(Evaluation, PrintsAtMostFiveAnswers) {
  const Evaluation evaluation = evaluated({predicted_card("slow", 40, 100), predicted_card("fast", 60, 900)},
                                          parse_prices("slow=0.36/h,fast=0.36/h"), workers_document(300, 2));
  const std::string text = page_text(evaluation_page(evaluation, false), 100);
  EXPECT_EQ(std::ranges::count(text, '*'), 5);
  EXPECT_GT(std::ranges::count(page_text(evaluation_page(evaluation, true), 100), '*'), 5);
  expect_words(text);
}

TEST(Evaluation, LeavesOutColumnsWithoutFigures) {
  ResultDocument document = batch_document("a cpu");
  add_measured(document, "fp32", 1, 50);
  const std::string text = page_text(evaluation_page(evaluated({document}), false), 100);
  expect_words(text);
}

TEST(Evaluation, IsDataToo) {
  const Evaluation evaluation = evaluated({predicted_card("one", 40, 100), predicted_card("other", 60, 150)});
  const Json json = evaluation_json(evaluation);
  EXPECT_EQ(json["schema"], "bench-evaluation/1");
  EXPECT_EQ(json["devices"][1]["curves"][1]["saturation"]["ratio"]["value"], 1.5);
  EXPECT_EQ(json["devices"][1]["curves"][1]["points"].size(), 3U);
  const std::string csv = evaluation_csv(evaluation);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2 * 2 * 3);
  expect_words(csv);
}

// A report shows a stored evaluation in the command's own table.
TEST(Evaluation, IsReadBack) {
  const Evaluation evaluation =
      evaluated({predicted_card("slow", 40, 100), predicted_card("fast", 60, 900)},
                parse_prices("slow=$0.36/h,fast=$0.36/h"), workers_document(300, 2));
  const Json json = evaluation_json(evaluation);
  const Evaluation read = read_evaluation(Field(json));
  const auto table_of = [](const Evaluation& of) {
    Page page;
    for (TextTable& table : tables_at_saturation(of)) {
      page.table(std::move(table));
    }
    return page_text(page, 200);
  };
  EXPECT_EQ(table_of(read), table_of(evaluation));
  EXPECT_EQ(claims_of(read, true), claims_of(evaluation, true));
  EXPECT_EQ(claims_of(read, false), claims_of(evaluation, false));
  EXPECT_EQ(read.notes, evaluation.notes);
  EXPECT_EQ(read.rows.back().to_first->level, kPredictedLevel);
  Json other = json;
  other["devices"][0]["curves"][0]["saturation"]["batch"] = 3;
  EXPECT_THROW(read_evaluation(Field(other)), UsageError);
  other = json;
  other["devices"] = Json::array();
  EXPECT_THROW(read_evaluation(Field(other)), UsageError);
}

TEST(Evaluation, KeepsForeignTextOutOfMarkdown) {
  ResultDocument document = batch_document("a <b>|cpu");
  add_measured(document, "fp32", 1, 50);
  expect_words(page_markdown(evaluation_page(evaluated({document}), false)));
}

const plots::Chart& chart_titled(const plots::Picture& picture, const std::string& title) {
  return *std::ranges::find_if(picture.charts,
                               [&](const plots::Chart& chart) { return chart.title.starts_with(title); });
}

TEST(EvaluationPicture, ADeviceKeepsItsColourInAnotherOrder) {
  for (const std::vector<std::string>& order : {std::vector<std::string>{"a", "b"}, {"b", "a"}}) {
    const plots::Picture picture =
        picture_of(evaluated({predicted_card(order[0], 40, 100), predicted_card(order[1], 42, 105)}));
    const plots::Chart& chart = chart_titled(picture, "Throughput");
    for (const plots::ChartSeries& series : std::get<plots::Curves>(chart.content).series) {
      EXPECT_EQ(series.colour, series.name.starts_with("a") ? 0U : 1U) << series.name;
      EXPECT_EQ(series.shape, series.colour);
    }
  }
}

TEST(EvaluationPicture, ACurveThatAnotherWouldHideIsDrawnOnceAndABoundHasNoInterval) {
  std::vector<ResultDocument> cards{predicted_card("a", 40, 100), predicted_card("b", 42, 105)};
  for (ResultDocument& card : cards) {
    Finding largest = finding_of("largest_batch/fp16", "samples");
    largest.value = card.context.device.id == "a" ? 60 : 70;
    card.findings.push_back(largest);
  }
  const plots::Picture picture = picture_of(evaluated(cards));
  const auto& memory = std::get<plots::Curves>(chart_titled(picture, "Memory").content).series;
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory[0].points.size(), 4U);
  ASSERT_EQ(memory[1].points.size(), 1U) << "its largest batch alone";
  EXPECT_TRUE(memory[1].points.front().open);
  const auto& energy = std::get<plots::Bars>(chart_titled(picture, "Energy").content).layers.front();
  ASSERT_FALSE(energy.values.empty());
  EXPECT_FALSE(energy.values.front()->ci95) << "by the data sheet's power";
}

}  // namespace
}  // namespace bench::testing
