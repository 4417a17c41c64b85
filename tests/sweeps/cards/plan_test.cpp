// Which points the cards sweep has, and what it refuses.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/cards/made_up_network.h"
#include "tests/sweeps/ranks_device.h"

namespace bench::sweeps {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_of(const SweepRequest& request) {
  RanksDevice device;
  std::vector<std::string> names;
  const auto sweep = cards_type().make(request, device);
  for (const SweepPoint& point : sweep->plan().points) {
    names.push_back(point.name);
  }
  return names;
}

std::string refusal(const SweepRequest& request) {
  try {
    names_of(request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CardsPlan, GoesByPowersOfTwoToAllThatWereStarted) {
  const std::string start = "cards/made_up/train/fp32/ranks:";
  EXPECT_THAT(names_of(cards_request({}, 6)), ElementsAre(start + "1/batch:8", start + "2/batch:8",
                                                          start + "4/batch:8", start + "6/batch:8"));
  EXPECT_THAT(names_of(cards_request({{"cards", "1,3"}}, 4)),
              ElementsAre(start + "1/batch:8", start + "3/batch:8"));
  SweepRequest strong = cards_request({{"scaling", "strong"}}, 4);
  strong.batches = {16};
  EXPECT_THAT(names_of(strong), ElementsAre(start + "1/batch:16", start + "2/batch:8", start + "4/batch:4"));
  strong.batches = {16, 32};
  RanksDevice device;
  const auto sweep = cards_type().make(strong, device);
  for (const SweepPoint& point : sweep->plan().points) {
    EXPECT_EQ(point.is_reference, point.name == start + "1/batch:16") << point.name;
  }
}

// One rank and the most, in the end with the most micro-batches.
TEST(CardsPlan, TheTwoPointsThatAShortRunNeedsAreKnown) {
  const auto needed = [](const SweepRequest& request) {
    RanksDevice device;
    std::vector<std::string> names;
    const auto sweep = cards_type().make(request, device);
    for (const SweepPoint& point : sweep->plan().points) {
      if (point.is_needed) {
        names.push_back(point.name);
      }
    }
    return names;
  };
  const std::string start = "cards/made_up/train/fp32/ranks:";
  SweepRequest weak = cards_request({}, 4);
  weak.batches = {4, 8};
  EXPECT_THAT(needed(weak), ElementsAre(start + "1/batch:4", start + "4/batch:4"));
  SweepRequest strong = cards_request({{"scaling", "strong"}}, 4);
  strong.batches = {16, 64};
  EXPECT_THAT(needed(strong), ElementsAre(start + "1/batch:16", start + "4/batch:4"));
  EXPECT_THAT(needed(cards_request({{"cards", "2,3"}}, 4)), ElementsAre(start + "3/batch:8"));
  EXPECT_THAT(needed(stages_request({{"micro-batches", "1,4"}}, 3)),
              ElementsAre("cards/made_up/infer/fp32/ranks:1/batch:8",
                          "cards/made_up/infer/fp32/split:layers/ranks:3/micro-batches:4/batch:8"));
}

TEST(CardsPlan, RefusesInOneSentence) {
  expect_words(refusal(cards_request({{"cards", "1,4"}})));
  expect_words(refusal(cards_request({{"bucket", "0B"}})));
  expect_words(refusal(cards_request({{"scaling", "both"}})));
  for (const auto& [option, value] : {std::pair("scaling", "weak,strong"), std::pair("split", "none,layers"),
                                      std::pair("shard", "none,optimizer")}) {
    expect_words(refusal(cards_request({{option, value}})));
  }
  expect_words(refusal(cards_request({{"loader", "no/such.json"}})));
  SweepRequest odd = cards_request({{"scaling", "strong"}});
  odd.batches = {7};
  expect_words(refusal(odd));
  SweepRequest half = cards_request();
  half.dtypes = {Dtype::bf16};
  expect_words(refusal(half));
  SweepRequest inference = cards_request();
  inference.modes = {"infer"};
  expect_words(refusal(inference));
  WorkloadType untrained = network();
  untrained.modes = {"infer"};
  untrained.missing_modes = {{"train", "resize has no gradient"}};
  SweepRequest fixed = cards_request();
  fixed.workload = &untrained;
  expect_words(refusal(fixed));
}

TEST(CardsPlan, LayersOverRanksTakeTheWholeBatchInMicroBatches) {
  const std::string start = "cards/made_up/infer/fp32/";
  EXPECT_THAT(names_of(stages_request({{"micro-batches", "1,4"}}, 3)),
              ElementsAre(start + "ranks:1/batch:8", start + "split:layers/ranks:2/micro-batches:1/batch:8",
                          start + "split:layers/ranks:2/micro-batches:4/batch:8",
                          start + "split:layers/ranks:3/micro-batches:1/batch:8",
                          start + "split:layers/ranks:3/micro-batches:4/batch:8"));
  RanksDevice device;
  const auto sweep = cards_type().make(stages_request({{"micro-batches", "4"}}), device);
  const SweepPoint& point = sweep->plan().points.back();
  EXPECT_EQ(point.params.at("split"), "layers");
  EXPECT_EQ(point.params.at("micro-batches"), 4);
  EXPECT_FALSE(point.params.contains("bucket"));
  EXPECT_FALSE(point.params.contains("stage"));
  EXPECT_EQ(read_cards_params(point.params).value().samples(), 8);
}

TEST(CardsPlan, StagesThatTrainNameTheirBalanceAndHaveNoBuckets) {
  const std::string start = "cards/made_up/train/fp32/";
  EXPECT_THAT(names_of(training_stages_request({{"micro-batches", "4"}, {"balance", "memory"}})),
              ElementsAre(start + "ranks:1/batch:8",
                          start + "split:layers/balance:memory/ranks:2/micro-batches:4/batch:8"));
  RanksDevice device;
  const auto sweep = cards_type().make(training_stages_request({{"balance", "memory"}}), device);
  const SweepPoint& point = sweep->plan().points.back();
  EXPECT_EQ(point.params.at("balance"), "memory");
  EXPECT_FALSE(point.params.contains("bucket"));
  EXPECT_EQ(read_cards_params(point.params).value().balance, "memory");
}

TEST(CardsPlan, RefusesLayersInOneSentence) {
  EXPECT_EQ(refusal(stages_request()), "accepted");
  EXPECT_EQ(refusal(stages_request({{"scaling", "strong"}})), "accepted");
  EXPECT_EQ(refusal(training_stages_request({{"balance", "memory"}})), "accepted");
  SweepRequest both = stages_request();
  both.modes = {"infer", "train"};
  expect_words(refusal(both));
  WorkloadType fixed = network();
  fixed.modes = {"infer"};
  SweepRequest untrained = training_stages_request();
  untrained.workload = &fixed;
  expect_words(refusal(untrained));
  expect_words(refusal(stages_request({{"balance", "memory"}})));
  expect_words(refusal(training_stages_request({{"balance", "time"}})));
  expect_words(refusal(training_stages_request({{"shard", "optimizer"}})));
  expect_words(refusal(stages_request({{"shard", "optimizer"}})));
  expect_words(refusal(stages_request({{"scaling", "weak"}})));
  for (const auto& [option, value] : {std::pair("bucket", "1MiB"), std::pair("loader", "w.json")}) {
    expect_words(refusal(stages_request({{option, value}})));
  }
  expect_words(refusal(stages_request({{"split", "samples"}})));
  expect_words(refusal(stages_request({{"micro-batches", "0"}})));
  for (const auto& [option, value] : {std::pair("micro-batches", "4"), std::pair("balance", "memory")}) {
    SweepRequest unsplit = cards_request({{option, value}});
    unsplit.given_sweep_options = {option};
    expect_words(refusal(unsplit));
  }
  WorkloadType operation = network();
  operation.kind = "operation";
  SweepRequest layerless = stages_request();
  layerless.workload = &operation;
  expect_words(refusal(layerless));
}
}  // namespace
}  // namespace bench::sweeps
