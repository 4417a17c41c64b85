#include "bench/predict/prediction.h"

#include <sstream>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/evaluate/evaluation.h"
#include "bench/predict/prediction_report.h"
#include "bench/predict/prediction_words.h"
#include "bench/text/lines.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/page/sentences.h"
#include "tests/bench/predict/small_network.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<Gpu> cards_named(const std::vector<const char*>& ids) {
  std::vector<Gpu> cards;
  for (const char* id : ids) {
    cards.push_back(testing::card(id));
  }
  return cards;
}

class PredictionTest : public ::testing::Test {
 protected:
  Prediction predicted(const std::vector<const char*>& ids, const char* dtypes = "fp32,fp16") {
    request_.workload = &type_;
    request_.spec.mode = "infer";
    request_.dtypes = parse_predicted_dtypes("--dtype", dtypes);
    request_.gpus = cards_named(ids);
    return predict(request_, testing::catalogue(), testing::coefficients());
  }
  static std::string text_of(const Prediction& prediction, bool verbose = false) {
    return page_text(prediction_page(prediction, false, verbose), 100);
  }

  WorkloadType type_ = testing::small_network();
  PredictionRequest request_;
};

TEST_F(PredictionTest, OfEachCardInEachDtype) {
  const Prediction prediction = predicted({"t4", "rtx3060-12gb"});
  ASSERT_THAT(prediction.cards, SizeIs(4));
  EXPECT_EQ(prediction.cards[1].dtype, "fp32");
  EXPECT_EQ(prediction.gpus[prediction.cards[1].gpu].id, "rtx3060-12gb");
  for (const CardPrediction& card : prediction.cards) {
    EXPECT_EQ(card.curve.problem, "");
    EXPECT_GT(card.curve.limits.safe, 100);
    EXPECT_GT(card.curve.at_saturation().per_s, 0);
  }
  // 16-bit halves what a sample holds.
  EXPECT_GT(10 * prediction.cards[2].curve.limits.safe, 19 * prediction.cards[0].curve.limits.safe);
}

TEST_F(PredictionTest, CountsTheRowsOfTheFamily) {
  const Prediction prediction = predicted({"t4", "rtx3060-12gb"});
  EXPECT_EQ(prediction.cards[0].family_rows, 14) << "5 of NeuSight, 9 of DeepLearningExamples";
  EXPECT_EQ(prediction.cards[1].family_rows, 0);
  EXPECT_EQ(prediction.cards[2].family_rows, 9);
  ASSERT_THAT(prediction.calibration, SizeIs(2));
  EXPECT_EQ(prediction.calibration[0].rows, 248);
  EXPECT_EQ(prediction.calibration[0].machines, 12U);
}

TEST_F(PredictionTest, SaysItInATable) {
  const Prediction prediction = predicted({"t4", "rtx3060-12gb"});
  expect_words(testing::sentences_of(prediction_page(prediction, false, true)));
  std::istringstream lines(text_of(prediction));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns(line), 100U) << line;
  }
  EXPECT_THAT(text_of(predicted({"t4"}), true), ::testing::HasSubstr("\nt4    fp32 "));
}

TEST_F(PredictionTest, RanksManyCards) {
  const Prediction prediction =
      predicted({"gtx960", "t4", "rtx3060-12gb", "a100-40gb", "h100-sxm", "rtx2060"}, "fp32");
  const auto ranked = prediction.ranked("fp32");
  ASSERT_THAT(ranked, SizeIs(6));
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    EXPECT_GE(ranked[i - 1]->curve.at_saturation().per_s, ranked[i]->curve.at_saturation().per_s);
  }
  EXPECT_EQ(prediction.gpus[ranked.front()->gpu].id, "h100-sxm");
  const std::string text = text_of(prediction);
  EXPECT_LT(text.find("\nh100-sxm "), text.find("\ngtx960 "));
  expect_words(text);  // the caveat of an old card
}

TEST_F(PredictionTest, NamesWhatCannotBePredicted) {
  request_.batches = {1, 8, 1'000'000};
  const Prediction prediction = predicted({"t4", "a100-40gb"}, "bf16");
  expect_words(prediction.cards[0].curve.problem);
  EXPECT_THAT(prediction.cards[1].curve.beyond, ElementsAre(1'000'000));
  const std::string text = text_of(prediction);
  expect_words(text);
  request_.spec.options["opaque"] = "yes";
  EXPECT_THROW(predicted({"t4"}), UsageError);
}

TEST_F(PredictionTest, AKnownHostIsTaken) {
  request_.batches = {1};
  const Prediction unknown = predicted({"a100-40gb"}, "fp16");
  request_.host_launch_s = 20e-6;
  const Prediction known = predicted({"a100-40gb"}, "fp16");
  EXPECT_LT(known.cards[0].curve.points[0].step.step_ns, unknown.cards[0].curve.points[0].step.step_ns);
  expect_words(subject_in_words(known));
}

// Convolutions of 16 bits are faster so; the page says which layout counts, where it matters.
TEST_F(PredictionTest, ChannelsLastIsAskedFor) {
  request_.batches = {64};
  const Prediction first = predicted({"a100-40gb"}, "fp16");
  EXPECT_EQ(first.channels_last, false);
  EXPECT_EQ(predicted({"a100-40gb"}, "fp32").channels_last, std::nullopt);
  request_.channels_last = true;
  const Prediction last = predicted({"a100-40gb"}, "fp16");
  EXPECT_EQ(last.channels_last, true);
  EXPECT_NE(last.cards[0].curve.points[0].step.gpu_ns, first.cards[0].curve.points[0].step.gpu_ns);
}

TEST_F(PredictionTest, RatioOfThroughputsAtTheirSaturationBatches) {
  const Prediction prediction = predicted({"t4", "a100-40gb"}, "fp16");
  const CardPrediction& t4 = prediction.cards[0];
  const CardPrediction& a100 = prediction.cards[1];
  const Ratio ratio = throughput_ratio_of(a100.curve.at_saturation(), t4.curve.at_saturation());
  EXPECT_NEAR(ratio.value, a100.curve.at_saturation().per_s / t4.curve.at_saturation().per_s, 1e-9);
  EXPECT_LT(ratio.interval->low, ratio.value);
}

TEST_F(PredictionTest, OtherFormats) {
  request_.batches = {1, 8, 1'000'000};
  const Prediction prediction = predicted({"t4", "gtx1080ti"}, "fp32,tf32");
  const Json json = Json::parse(prediction_json(prediction));
  EXPECT_EQ(json["schema"], "bench-predict/1");
  ASSERT_THAT(json["predictions"], SizeIs(4));
  EXPECT_EQ(json["predictions"][0]["batches"][1]["batch"], 8);
  EXPECT_EQ(json["predictions"][0]["out_of_memory"], Json({1'000'000}));
  EXPECT_TRUE(json["predictions"][2]["saturation_batch"].is_null());
  EXPECT_EQ(json["gpus"][1]["id"], "gtx1080ti");
  const std::string csv = prediction_csv(prediction);
  std::istringstream lines(csv);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(std::ranges::count(line, ','), 16) << line;
  }
  EXPECT_EQ(count, 1 + 2 * 3 + 2);
  expect_words(page_markdown(prediction_page(prediction, false, true)));
}

TEST(PredictedDtypes, AsTheCommandLineHasThem) {
  const auto dtypes = parse_predicted_dtypes("--dtype", "half,fp16,half,fp32");
  ASSERT_THAT(dtypes, SizeIs(3));
  EXPECT_EQ(dtypes[0].name(), "half");
  EXPECT_TRUE(dtypes[0].cast_whole);
  EXPECT_EQ(dtypes[1].name(), "fp16");
  EXPECT_EQ(parse_predicted_dtypes("--dtype", "float16")[0].name(), "fp16");
  EXPECT_THROW(parse_predicted_dtypes("--dtype", "fp8"), UsageError);
  EXPECT_THROW(parse_predicted_dtypes("--dtype", ""), UsageError);
}

}  // namespace
}  // namespace bench
