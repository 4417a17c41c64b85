// Findings of the transfer sweep's studies: a workload's steps, pinning, and calls.
#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/transfer_machine.h"

namespace bench::sweeps {
namespace {

using ::testing::ElementsAre;

TEST(TransferFindings, TheVerdictHasItsNumbers) {
  const Finding pin = transfer_finding(transfer_card(), "pin/batch:32");
  EXPECT_EQ(pin.value, 5e6);
  EXPECT_EQ(pin.headline, 1);
  EXPECT_EQ(pin.details.at("verdict"), "pin");
  EXPECT_EQ(pin.details.at("open"), false);
  EXPECT_EQ(pin.details.at("compute_ns"), 40e6);
  EXPECT_EQ(pin.details.at("pageable_ns"), 46e6);
  EXPECT_EQ(pin.details.at("pinned_ns"), 41e6);
  EXPECT_EQ(pin.details.at("locked_bytes"), 8 * (8 << 20));
  EXPECT_EQ(pin.details.at("pinning_ns"), 16e6);  // 30 ms less the 14 that ordinary memory takes
  EXPECT_EQ(pin.claim,
            "Pin: pinned memory saves 5.00 ± 0.09 ms of a 46.0 ms step at batch 32, 11 % (locks 64.0 MiB, "
            "16.0 ms once, earned back after 4 steps).");
}

// The workers' buffers stay pageable then.
TEST(TransferFindings, StagingLocksItsRingOnly) {
  TransferMachine card = transfer_card();
  card.state.steps[0].kinds = {kind_steps("pageable", 8, 48, 46), kind_steps("staged", 4, 44, 41)};
  const Finding pin = transfer_finding(card, "pin/batch:32");
  EXPECT_EQ(pin.details.at("locked_bytes"), 4 << 20);
  EXPECT_EQ(pin.details.at("pinned_locks_bytes"), 8 * (8 << 20));
  expect_words(pin.claim);
}

TEST(TransferFindings, WhereStagedAndPinnedDoNotDifferTheOneThatLocksLessIsNamed) {
  TransferMachine card = transfer_card();
  card.state.steps[0].kinds = {kind_steps("pageable", 8, 48, 46), kind_steps("staged", 4, 44, 41.02),
                               kind_steps("pinned", 4, 44, 41)};
  EXPECT_EQ(transfer_finding(card, "pin/batch:32").details.at("with"), "staged");
}

TEST(TransferFindings, DontPinWhereItCosts) {
  TransferMachine card = transfer_card();
  card.state.steps[0].kinds = {kind_steps("pageable", 1, 41, 40.1), kind_steps("staged", 2, 42, 40.3),
                               kind_steps("pinned", 1, 41, 40.2)};
  const Finding pin = transfer_finding(card, "pin/batch:32");
  EXPECT_EQ(pin.details.at("verdict"), "don't");
  expect_words(pin.claim);
}

TEST(TransferFindings, ALockLimitLeavesNoVerdictButTheReason) {
  TransferMachine card = transfer_card();
  for (const std::size_t kind : {1U, 2U}) {
    card.state.steps[0].kinds[kind].unsupported = "64 KiB may be locked";
  }
  card.state.pinning = {{.bytes = 1 << 20, .unsupported = "64 KiB may be locked"}};
  EXPECT_EQ(transfer_finding(card, "pin/batch:32").details.at("verdict"), "untold");
  EXPECT_EQ(transfer_finding(card, "pin/batch:32").claim, "No verdict at batch 32: 64 KiB may be locked.");
  expect_words(transfer_finding(card, "pinning_cost").claim);
}

TEST(TransferFindings, MemoryTakenBeyondWhatWasAskedForIsSaid) {
  const Finding cost = transfer_finding(transfer_card(), "pinning_cost");
  EXPECT_NEAR(*cost.value, 30e6 / 64, 1e-6);
  EXPECT_EQ(cost.details.at("taken_share"), 2);
  expect_words(cost.claim);
}

TEST(TransferFindings, BuffersThatTheHostCannotHoldAreSaid) {
  TransferMachine card = transfer_card();  // 4 workers with 2 batches of 8 MiB
  card.document.context.host.memory_bytes = 48 << 20;
  const Finding pin = transfer_finding(card, "pin/batch:32");
  expect_words(pin.claim);
  EXPECT_FALSE(pin.details.contains("pinning_ns"));
  card.document.context.host.memory_bytes = 64 << 20;
  expect_words(transfer_finding(card, "pin/batch:32").claim);
}

TEST(TransferFindings, BuffersBeyondTheLockLimitAreSaid) {
  TransferMachine card = transfer_card();
  card.state.pinning[1] = {.bytes = 1 << 26, .unsupported = "8 MiB may be locked"};
  expect_words(transfer_finding(card, "pin/batch:32").claim);
  card.state.workers = 1;  // 16 MiB: below what was refused
  expect_words(transfer_finding(card, "pin/batch:32").claim);
}

// Both pay, pinned memory more: but 64 MiB of it cannot be had.
TEST(TransferFindings, MemoryThatCannotBePinnedIsNotRecommendedWhileStagingPays) {
  const auto named = [](const TransferMachine& card) {
    return transfer_finding(card, "pin/batch:32").details.at("with");
  };
  TransferMachine card = transfer_card();
  EXPECT_EQ(named(card), "pinned");
  card.document.context.host.memory_bytes = 48 << 20;
  EXPECT_EQ(named(card), "staged");
  card = transfer_card();
  card.state.pinning[1] = {.bytes = 1 << 26, .unsupported = "8 MiB may be locked"};
  EXPECT_EQ(named(card), "staged");
  expect_words(transfer_finding(card, "pin/batch:32").claim);
}

TEST(TransferFindings, ADifferenceWithinTheNoiseIsInconclusive) {
  TransferMachine card = transfer_card();
  card.state.steps[0].kinds = {kind_steps("pageable", 8, 48, 46), kind_steps("pinned", 4, 44, 41)};
  card.state.steps[0].kinds[0].overlapped_ns.ci95 = Interval{40e6, 50e6};
  card.state.steps[0].kinds[1].overlapped_ns.ci95 = Interval{38e6, 45e6};
  const Finding pin = transfer_finding(card, "pin/batch:32");
  EXPECT_EQ(pin.details.at("verdict"), "don't");
  EXPECT_EQ(pin.details.at("open"), true);
  expect_words(pin.claim);
  card.state.steps[0].kinds[0].overlapped_ns.ci95 = Interval{1e6, 500e6};
  expect_words(transfer_finding(card, "pin/batch:32").claim);
}

TEST(TransferFindings, CostsBeyondTheLargestSizeTriedAreCalledExtrapolated) {
  TransferMachine card = transfer_card();
  expect_words(transfer_finding(card, "pin/batch:32").claim);
  card.state.workers = 8;
  const Finding pin = transfer_finding(card, "pin/batch:32");
  EXPECT_EQ(pin.details.at("pinning_ns"), 32e6);  // twice the 16 ms of 64 MiB
  expect_words(pin.claim);
}

CallTime transfer_call(const char* kind, std::int64_t bytes, double returns_ns, double done_ns) {
  const auto time = [](double ns) { return Estimate{.value = ns, .ci95 = Interval{0.9 * ns, 1.1 * ns}}; };
  return {.direction = "h2d",
          .kind = kind,
          .bytes = bytes,
          .returns_ns = time(returns_ns),
          .done_ns = time(done_ns),
          .cpu_ns = returns_ns};
}

TEST(TransferFindings, CallsOfOneSizeAreCompared) {
  TransferMachine card = transfer_card();
  card.state.calls = {
      transfer_call("pinned", 4 << 10, 5e3, 20e3), transfer_call("pinned", 1 << 20, 6e3, 60e3),
      transfer_call("pinned", 16 << 20, 7e3, 700e3), transfer_call("pageable", 4 << 10, 9e3, 10e3),
      transfer_call("pageable", 1 << 20, 170e3, 170e3)};  // no time was left for 16 MiB
  const Finding held = transfer_finding(card, "host_held");
  EXPECT_DOUBLE_EQ(*held.value, 0.1);
  ASSERT_TRUE(held.ci95);
  EXPECT_DOUBLE_EQ(held.ci95->low, 0.1 * 0.9 / 1.1);
  EXPECT_DOUBLE_EQ(held.ci95->high, 0.1 * 1.1 / 0.9);
  expect_words(held.claim);
  EXPECT_THAT(held.evidence, ElementsAre("transfer/h2d/pinned/touched/1/1048576",
                                         "transfer/h2d/pageable/touched/1/1048576"));
  card.state.calls[4].direction = "d2h";
  expect_words(transfer_finding(card, "host_held").claim);
}

TEST(TransferFindings, OverlapHasAnIntervalAndTheCopiesAsEvidence) {
  const Finding overlap = transfer_finding(transfer_card(), "overlap/pinned/batch:32");
  EXPECT_DOUBLE_EQ(*overlap.value, 0.75);  // 1 ms of 4 is not hidden
  ASSERT_TRUE(overlap.ci95);
  EXPECT_NEAR(overlap.ci95->low, 1 - (41.041 - 39.96) / 3.996, 1e-9);
  EXPECT_NEAR(overlap.ci95->high, 1 - (40.959 - 40.04) / 4.004, 1e-9);
  expect_words(overlap.claim);
  EXPECT_THAT(overlap.evidence,
              ElementsAre("transfer/h2d/pinned/touched/1/4194304", "transfer/h2d/pinned/touched/1/16777216"));
}

TEST(TransferFindings, PinningHasTheIntervalOfItsRepetitions) {
  const Finding cost = transfer_finding(transfer_card(), "pinning_cost");
  ASSERT_TRUE(cost.ci95);
  EXPECT_DOUBLE_EQ(cost.ci95->low, 28e6 / 64);
  EXPECT_DOUBLE_EQ(cost.ci95->high, 33e6 / 64);
}

TEST(TransferFindings, AtMostFiveAreHeadlinesTheVerdictFirst) {
  const TransferMachine card = transfer_card();
  std::vector<std::string> headlines(6);
  for (const Finding& finding : transfer_findings(card.document, card.state)) {
    ASSERT_LE(finding.headline, 5) << finding.name;
    if (finding.headline > 0) {
      headlines[static_cast<std::size_t>(finding.headline)] = finding.name;
      EXPECT_LE(finding.claim.size(), 200U) << finding.claim;
    }
  }
  EXPECT_THAT(headlines, ElementsAre("", "pin/batch:32", "crossover/h2d/pinned", "model/h2d/pinned",
                                     "overlap/pinned/batch:32", "bus"));
}

TEST(TransferState, AnIntervalThatIsNotKnownIsNull) {
  TransferMachine card = transfer_card();
  card.state.calls = {transfer_call("pinned", 4 << 10, 5e3, 20e3)};
  card.state.calls[0].returns_ns.ci95.reset();
  const Json call = to_json(card.state).at("calls")[0];
  EXPECT_EQ(call.at("returns_ns"), 5e3);
  EXPECT_TRUE(call.at("returns_ci95_ns").is_null());
  EXPECT_FALSE(call.at("done_ci95_ns").is_null());
}

// The keys of results written before: readers of the file know them by these names.
TEST(TransferState, IsWrittenUnderItsNames) {
  TransferMachine card = transfer_card();
  card.state.calls = {transfer_call("pinned", 4 << 10, 5e3, 20e3)};
  card.state.pinning.push_back({.bytes = 1 << 28, .unsupported = "may not lock"});
  card.state.steps.push_back({.workload = "net", .mode = "infer", .batch = 64, .unsupported = "no memory"});
  const Json json = to_json(card.state);
  EXPECT_EQ(json.at("crosses_bus"), true);
  EXPECT_EQ(json.at("workers"), 4);
  EXPECT_EQ(json.at("prefetch"), 2);
  EXPECT_EQ(json.at("node"), "near");
  const Json pinning = {
      {"bytes", 1 << 26},      {"pin_ns", 30e6},      {"pin_ci95_ns", {28'000'000, 33'000'000}},
      {"unpin_ns", 8e6},       {"pageable_ns", 14e6}, {"free_ns", 4e6},
      {"taken_bytes", 1 << 27}};
  EXPECT_EQ(json.at("pinning")[1], pinning);
  EXPECT_EQ(json.at("pinning")[2], Json({{"bytes", 1 << 28}, {"unsupported", "may not lock"}}));
  const Json call = {{"direction", "h2d"},
                     {"host_memory", "pinned"},
                     {"bytes", 4 << 10},
                     {"returns_ns", 5e3},
                     {"returns_ci95_ns", {4500, 5500}},
                     {"done_ns", 20e3},
                     {"done_ci95_ns", {18'000, 22'000}},
                     {"cpu_ns", 5e3}};
  EXPECT_EQ(json.at("calls")[0], call);
  const Json& steps = json.at("steps")[0];
  EXPECT_EQ(steps.at("workload"), "net");
  EXPECT_EQ(steps.at("mode"), "train");
  EXPECT_EQ(steps.at("dtype"), "fp32");
  EXPECT_EQ(steps.at("bytes"), 8 << 20);
  EXPECT_EQ(steps.at("rounds"), 9);
  EXPECT_EQ(
      steps.at("compute"),
      Json({{"median_ns", 40e6}, {"ci95_ns", {39'960'000, 40'040'000}}, {"samples_ns", Json::array()}}));
  const Json& pinned = steps.at("kinds")[2];
  EXPECT_EQ(pinned.at("host_memory"), "pinned");
  EXPECT_EQ(pinned.at("copy").at("median_ns"), 4e6);
  EXPECT_EQ(pinned.at("serial").at("median_ns"), 44e6);
  EXPECT_EQ(pinned.at("beside").at("median_ns"), 41e6);
  EXPECT_EQ(pinned.at("compute_beside").at("median_ns"), 40e6);
  EXPECT_EQ(json.at("steps")[1].at("unsupported"), "no memory");
}

}  // namespace
}  // namespace bench::sweeps
