// What the transfer sweep says of its studies: a workload's steps, pinning, and calls.
#include <gmock/gmock.h>

#include "tests/sweeps/transfer_machine.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TransferFindings, TheVerdictHasItsNumbers) {
  const Finding pin = transfer_finding(transfer_card(), "pin/batch:32");
  EXPECT_EQ(pin.value, 5e6);
  EXPECT_EQ(pin.details.at("verdict"), "pin");
  EXPECT_EQ(pin.details.at("locked_bytes"), 8 * (8 << 20));
  EXPECT_EQ(pin.details.at("pinning_ns"), 16e6);  // 30 ms less the 14 that ordinary memory takes
  EXPECT_THAT(pin.claim, AllOf(HasSubstr("Pin: "), HasSubstr("pageable 46.0 ms"), HasSubstr("pinned 41.0 ms"),
                               HasSubstr("saves 5.00 ms a step (11 %)"), HasSubstr("64.0 MiB"),
                               HasSubstr("earned back after 4 steps")));
}

// The workers' buffers stay pageable then.
TEST(TransferFindings, StagingLocksItsRingOnly) {
  ResultDocument document = transfer_card();
  document.sweep["transfer"]["steps"][0]["kinds"] =
      Json::array({kind_steps("pageable", 8, 48, 46), kind_steps("staged", 4, 44, 41)});
  const Finding pin = transfer_finding(document, "pin/batch:32");
  EXPECT_EQ(pin.details.at("locked_bytes"), 4 << 20);
  EXPECT_EQ(pin.details.at("pinned_locks_bytes"), 8 * (8 << 20));
  EXPECT_THAT(pin.claim,
              AllOf(HasSubstr("staged memory saves 5.00 ms"), HasSubstr("locks only its ring, 4.00 MiB"),
                    HasSubstr("pinned instead, 4 workers"), Not(HasSubstr("earned back"))));
}

TEST(TransferFindings, WhereStagedAndPinnedDoNotDifferTheOneThatLocksLessIsNamed) {
  ResultDocument document = transfer_card();
  document.sweep["transfer"]["steps"][0]["kinds"] =
      Json::array({kind_steps("pageable", 8, 48, 46), kind_steps("staged", 4, 44, 41.02),
                   kind_steps("pinned", 4, 44, 41)});
  EXPECT_THAT(
      transfer_finding(document, "pin/batch:32").claim,
      HasSubstr("staged memory saves 4.98 ms a step (11 %), and pinned memory does not differ from it "
                "measurably; staging locks only its ring, 4.00 MiB; pinned instead, 4 workers"));
}

TEST(TransferFindings, DontPinWhereItCosts) {
  ResultDocument document = transfer_card();
  document.sweep["transfer"]["steps"][0]["kinds"] =
      Json::array({kind_steps("pageable", 1, 41, 40.1), kind_steps("staged", 2, 42, 40.3),
                   kind_steps("pinned", 1, 41, 40.2)});
  const Finding pin = transfer_finding(document, "pin/batch:32");
  EXPECT_EQ(pin.details.at("verdict"), "don't");
  EXPECT_THAT(pin.claim, AllOf(HasSubstr("Don't pin: "), HasSubstr("costs 100 µs a step (0.2 %)")));
}

TEST(TransferFindings, ALockLimitLeavesTheVerdictOpenWithTheReason) {
  ResultDocument document = transfer_card();
  for (const std::size_t kind : {1U, 2U}) {
    const std::string name = document.sweep["transfer"]["steps"][0]["kinds"][kind]["host_memory"];
    document.sweep["transfer"]["steps"][0]["kinds"][kind] = {{"host_memory", name},
                                                             {"unsupported", "64 KiB may be locked"}};
  }
  document.sweep["transfer"]["pinning"] =
      Json::array({{{"bytes", 1 << 20}, {"unsupported", "64 KiB may be locked"}}});
  EXPECT_THAT(transfer_finding(document, "pin/batch:32").claim,
              AllOf(HasSubstr("cannot be told"), HasSubstr("64 KiB may be locked")));
  EXPECT_THAT(transfer_finding(document, "pinning_cost").claim, HasSubstr("64 KiB may be locked"));
}

TEST(TransferFindings, MemoryTakenBeyondWhatWasAskedForIsSaid) {
  const Finding cost = transfer_finding(transfer_card(), "pinning_cost");
  EXPECT_NEAR(*cost.value, 30e6 / 64, 1e-6);
  EXPECT_THAT(cost.claim, HasSubstr("2.00 times what was asked for"));
}

TEST(TransferFindings, BuffersThatTheHostCannotHoldAreSaid) {
  ResultDocument document = transfer_card();  // 4 workers with 2 batches of 8 MiB
  document.context["host"]["memory_bytes"] = 48 << 20;
  const Finding pin = transfer_finding(document, "pin/batch:32");
  EXPECT_THAT(pin.claim,
              HasSubstr("lock 64.0 MiB of the host's memory, which does not fit: the host has 48.0 MiB"));
  EXPECT_FALSE(pin.details.contains("pinning_ns"));
  EXPECT_THAT(pin.claim, Not(HasSubstr("earned back")));
  document.context["host"]["memory_bytes"] = 64 << 20;
  EXPECT_THAT(transfer_finding(document, "pin/batch:32").claim, Not(HasSubstr("does not fit")));
}

TEST(TransferFindings, BuffersBeyondTheLockLimitAreSaid) {
  ResultDocument document = transfer_card();
  document.sweep["transfer"]["pinning"][1] = {{"bytes", 1 << 26}, {"unsupported", "8 MiB may be locked"}};
  const Finding pin = transfer_finding(document, "pin/batch:32");
  EXPECT_THAT(pin.claim, AllOf(HasSubstr("lock 64.0 MiB"), HasSubstr("refused here: 8 MiB may be locked"),
                               Not(HasSubstr("earned back"))));
  document.sweep["transfer"]["workers"] = 1;  // 16 MiB: below what was refused
  EXPECT_THAT(transfer_finding(document, "pin/batch:32").claim, Not(HasSubstr("refused")));
}

// Both pay, pinned memory more: but 64 MiB of it cannot be had.
TEST(TransferFindings, MemoryThatCannotBePinnedIsNotRecommendedWhileStagingPays) {
  const auto named = [](const ResultDocument& document) {
    return transfer_finding(document, "pin/batch:32").details.at("with");
  };
  ResultDocument document = transfer_card();
  EXPECT_EQ(named(document), "pinned");
  document.context["host"]["memory_bytes"] = 48 << 20;
  EXPECT_EQ(named(document), "staged");
  document = transfer_card();
  document.sweep["transfer"]["pinning"][1] = {{"bytes", 1 << 26}, {"unsupported", "8 MiB may be locked"}};
  EXPECT_EQ(named(document), "staged");
  EXPECT_THAT(
      transfer_finding(document, "pin/batch:32").claim,
      AllOf(HasSubstr("Pin: "), HasSubstr("staged memory saves 2.00 ms a step (4.3 %); staging locks "),
            HasSubstr("pinned instead, 4 workers"), HasSubstr("refused here: 8 MiB may be locked")));
}

TEST(TransferFindings, AVerdictThatTheScatterLeavesOpenSaysSo) {
  ResultDocument document = transfer_card();
  document.sweep["transfer"]["steps"][0]["kinds"] =
      Json::array({kind_steps("pageable", 8, 48, 46), kind_steps("pinned", 4, 44, 41)});
  Json& kinds = document.sweep["transfer"]["steps"][0]["kinds"];
  kinds[0]["beside"]["ci95_ns"] = {40e6, 50e6};
  kinds[1]["beside"]["ci95_ns"] = {38e6, 45e6};
  const Finding pin = transfer_finding(document, "pin/batch:32");
  EXPECT_EQ(pin.details.at("verdict"), "don't");
  EXPECT_EQ(pin.details.at("open"), true);
  EXPECT_THAT(pin.claim,
              AllOf(HasSubstr("Don't pin yet, whether it pays cannot be told: a step"),
                    HasSubstr("saves 5.00 ms a step (11 %), with intervals that leave anything from "
                              "5.00 ms lost to 8.01 ms saved")));
  EXPECT_EQ(transfer_finding(transfer_card(), "pin/batch:32").details.at("open"), false);
}

TEST(TransferFindings, CostsBeyondTheLargestSizeTriedAreCalledExtrapolated) {
  ResultDocument document = transfer_card();
  EXPECT_THAT(transfer_finding(document, "pin/batch:32").claim, Not(HasSubstr("extrapolated")));
  document.sweep["transfer"]["workers"] = 8;
  const Finding pin = transfer_finding(document, "pin/batch:32");
  EXPECT_EQ(pin.details.at("pinning_ns"), 32e6);  // twice the 16 ms of 64 MiB
  EXPECT_THAT(
      pin.claim,
      HasSubstr("takes 32.0 ms longer, once, than ordinary memory does (extrapolated from 64.0 MiB)"));
}

Json transfer_call(const char* kind, std::int64_t bytes, double returns_ns, double done_ns) {
  return {{"direction", "h2d"},
          {"host_memory", kind},
          {"bytes", bytes},
          {"returns_ns", returns_ns},
          {"returns_ci95_ns", {0.9 * returns_ns, 1.1 * returns_ns}},
          {"done_ns", done_ns},
          {"done_ci95_ns", {0.9 * done_ns, 1.1 * done_ns}},
          {"cpu_ns", returns_ns}};
}

TEST(TransferFindings, CallsOfOneSizeAreCompared) {
  ResultDocument document = transfer_card();
  document.sweep["transfer"]["calls"] = Json::array(
      {transfer_call("pinned", 4 << 10, 5e3, 20e3), transfer_call("pinned", 1 << 20, 6e3, 60e3),
       transfer_call("pinned", 16 << 20, 7e3, 700e3), transfer_call("pageable", 4 << 10, 9e3, 10e3),
       transfer_call("pageable", 1 << 20, 170e3, 170e3)});  // no time was left for 16 MiB
  const Finding held = transfer_finding(document, "host_held");
  EXPECT_DOUBLE_EQ(*held.value, 0.1);
  ASSERT_TRUE(held.ci95);
  EXPECT_DOUBLE_EQ(held.ci95->low, 0.1 * 0.9 / 1.1);
  EXPECT_DOUBLE_EQ(held.ci95->high, 0.1 * 1.1 / 0.9);
  EXPECT_THAT(held.claim, AllOf(HasSubstr("A copy of 1.00 MiB"), HasSubstr("6.00 µs of 60.0 µs"),
                                HasSubstr("170 µs of 170 µs")));
  EXPECT_THAT(held.evidence, ElementsAre("transfer/h2d/pinned/touched/1/1048576",
                                         "transfer/h2d/pageable/touched/1/1048576"));
  document.sweep["transfer"]["calls"][4]["direction"] = "d2h";
  EXPECT_THAT(transfer_finding(document, "host_held").claim, HasSubstr("A copy of 4.00 KiB"));
}

TEST(TransferFindings, OverlapHasAnIntervalAndTheCopiesThatStandBehindIt) {
  const Finding overlap = transfer_finding(transfer_card(), "overlap/pinned/batch:32");
  EXPECT_DOUBLE_EQ(*overlap.value, 0.75);  // of 4 ms, 1 shows
  ASSERT_TRUE(overlap.ci95);
  EXPECT_NEAR(overlap.ci95->low, 1 - (41.041 - 39.96) / 3.996, 1e-9);
  EXPECT_NEAR(overlap.ci95->high, 1 - (40.959 - 40.04) / 4.004, 1e-9);
  EXPECT_THAT(overlap.claim, HasSubstr("75 % (73 % to 77 %) of the copy of 8.00 MiB"));
  EXPECT_THAT(overlap.evidence,
              ElementsAre("transfer/h2d/pinned/touched/1/4194304", "transfer/h2d/pinned/touched/1/16777216"));
}

TEST(TransferFindings, PinningHasTheIntervalOfItsRepetitions) {
  ResultDocument document = transfer_card();
  EXPECT_FALSE(transfer_finding(document, "pinning_cost").ci95);  // by a program that wrote none
  document.sweep["transfer"]["pinning"][1]["pin_ci95_ns"] = {28e6, 33e6};
  const Finding cost = transfer_finding(document, "pinning_cost");
  ASSERT_TRUE(cost.ci95);
  EXPECT_DOUBLE_EQ(cost.ci95->low, 28e6 / 64);
  EXPECT_DOUBLE_EQ(cost.ci95->high, 33e6 / 64);
}

}  // namespace
}  // namespace bench::sweeps
