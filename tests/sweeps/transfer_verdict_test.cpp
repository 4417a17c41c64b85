// Whether pinning pays: verdict, what overlap hides, what locking costs.
#include "sweeps/transfer/verdict.h"

#include <gtest/gtest.h>

namespace bench::sweeps {
namespace {

// ±1 %.
Estimate ms(double value) {
  return {.value = value * 1e6, .ci95 = Interval{0.99e6 * value, 1.01e6 * value}};
}

KindSteps kind(const char* name, double copy, double serial, double overlapped, double compute_overlapped) {
  return {.name = name,
          .copy_ns = ms(copy),
          .serial_ns = ms(serial),
          .overlapped_ns = ms(overlapped),
          .compute_overlapped_ns = ms(compute_overlapped)};
}

// A step computes for 40 ms; the copy takes 8 ms pageable and 4 pinned.
StepStudy usual() {
  return {.workload = "net",
          .mode = "train",
          .batch = 32,
          .bytes = 50'000'000,
          .compute_ns = ms(40),
          .kinds = {kind("pageable", 8, 48, 47, 41), kind("staged", 6, 46, 44, 42),
                    kind("pinned", 4, 44, 41, 40)}};
}

// A ring takes less than the buffers of a loader's workers.
const LockedBytes ring_is_smaller{.pinned = 800e6, .staged = 4e6};

PinVerdict verdict_of(const StepStudy& study) {
  return pin_verdict(study, ring_is_smaller).value();
}

TEST(PinVerdict, PinsWhereTheBestStepIsFaster) {
  const PinVerdict verdict = verdict_of(usual());
  EXPECT_EQ(verdict.verdict, PinningVerdict::pin);
  EXPECT_EQ(verdict.chosen_kind, "pinned");
  EXPECT_DOUBLE_EQ(verdict.saved_ns.value, 6e6);  // 47 against 41: pageable has its second thread too
  EXPECT_DOUBLE_EQ(verdict.share, 6.0 / 47);
}

TEST(PinVerdict, TakesStagingWhereThatIsFaster) {
  StepStudy study = usual();
  study.kinds[1] = kind("staged", 3, 43, 40, 40);
  study.kinds[2] = kind("pinned", 5, 45, 43, 40);
  EXPECT_EQ(verdict_of(study).chosen_kind, "staged");
}

// 40.8 ± 0.4 against 41 ± 0.4.
TEST(PinVerdict, TakesWhatLocksLessWhereTheTwoDoNotDiffer) {
  StepStudy study = usual();
  for (const double staged : {40.8, 41.2}) {
    study.kinds[1] = kind("staged", 3, 43, staged, 40);
    const PinVerdict by_ring = verdict_of(study);
    EXPECT_EQ(by_ring.verdict, PinningVerdict::pin);
    EXPECT_EQ(by_ring.chosen_kind, "staged");
    EXPECT_DOUBLE_EQ(by_ring.saved_ns.value, 47e6 - staged * 1e6);
    const PinVerdict by_buffers = *pin_verdict(study, {.pinned = 1e6, .staged = 4e6});
    EXPECT_EQ(by_buffers.chosen_kind, "pinned");
    EXPECT_DOUBLE_EQ(by_buffers.saved_ns.value, 6e6);
  }
}

// Staged steps scatter so much that they do not differ from either.
TEST(PinVerdict, TakesTheOneThatPaysThoughItLocksMore) {
  StepStudy study = usual();
  study.kinds[1].overlapped_ns = {.value = 43e6, .ci95 = Interval{40e6, 48e6}};
  study.kinds[1].serial_ns = study.kinds[1].overlapped_ns;
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::pin);
  EXPECT_EQ(verdict_of(study).chosen_kind, "pinned");
}

TEST(PinVerdict, DoesNotWhereIntervalsTouchOrLittleIsSaved) {
  StepStudy study = usual();
  study.kinds[0] = kind("pageable", 4.2, 44, 41.5, 40);  // 41.5 ± 0.4 against 41 ± 0.4
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::inconclusive);
  EXPECT_FALSE(verdict_of(study).significant);
  study.kinds[0] = kind("pageable", 4.2, 44, 41.2, 40);
  study.kinds[0].overlapped_ns.ci95 = Interval{41.19e6, 41.21e6};
  study.kinds[2].overlapped_ns.ci95 = Interval{40.99e6, 41.01e6};
  EXPECT_TRUE(verdict_of(study).significant);
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::dont);  // half a percent
  study.kinds[0] = kind("pageable", 2, 42, 40, 40);
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::dont);
  EXPECT_LT(verdict_of(study).saved_ns.value, 0);
}

// Pinned steps are 3 ms faster than staged ones, which pay too.
TEST(PinVerdict, TakesStagingThatPaysWhereTheBuffersCannotBePinned) {
  LockedBytes locked = ring_is_smaller;
  EXPECT_EQ(pin_verdict(usual(), locked)->chosen_kind, "pinned");
  locked.pinned_refusal = "8 MiB may be locked";
  EXPECT_EQ(pin_verdict(usual(), locked)->chosen_kind, "staged");
  EXPECT_EQ(pin_verdict(usual(), locked)->verdict, PinningVerdict::pin);
  StepStudy study = usual();
  study.kinds[1] = kind("staged", 8, 48, 47, 42);
  EXPECT_EQ(pin_verdict(study, locked)->chosen_kind, "pinned");  // staging does not pay
}

TEST(PinVerdict, IsInconclusiveWhereTheIntervalsLeaveRoomForASavingWorthIt) {
  StepStudy study = usual();
  study.kinds[0].overlapped_ns = study.kinds[0].serial_ns = {.value = 187e6, .ci95 = Interval{140e6, 296e6}};
  study.kinds[2].overlapped_ns = study.kinds[2].serial_ns = {.value = 125e6, .ci95 = Interval{102e6, 269e6}};
  study.kinds.erase(study.kinds.begin() + 1);
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::inconclusive);
  // At most 0.8 of 100 ms could be saved.
  study.kinds[0].overlapped_ns =
      study.kinds[0].serial_ns = {.value = 100e6, .ci95 = Interval{99.6e6, 100.4e6}};
  study.kinds[1].overlapped_ns =
      study.kinds[1].serial_ns = {.value = 100e6, .ci95 = Interval{99.6e6, 100.4e6}};
  EXPECT_FALSE(verdict_of(study).significant);
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::dont);
}

// 50 ms ± 10 with a copy of 0.12: nothing that scatters that much could save more than the copy.
TEST(PinVerdict, IsConclusiveWhereTheCopyIsTooShortToMatter) {
  StepStudy study = usual();
  for (KindSteps& one : study.kinds) {
    one.copy_ns = ms(0.12);
    one.serial_ns = one.overlapped_ns = {.value = 50e6, .ci95 = Interval{40e6, 60e6}};
  }
  const PinVerdict verdict = verdict_of(study);
  EXPECT_EQ(verdict.verdict, PinningVerdict::dont);
  EXPECT_TRUE(verdict.copy_is_short);
  EXPECT_DOUBLE_EQ(verdict.max_saving_ns, 0.12e6 * 1.01);
  study.kinds[0].copy_ns = ms(8);
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::inconclusive);
  EXPECT_FALSE(verdict_of(study).copy_is_short);
}

// Staging would lock less, but it is pinned memory that may yet pay.
TEST(PinVerdict, NamesTheOneThatMayYetPayWhereNeitherDoes) {
  StepStudy study = usual();
  for (KindSteps& one : study.kinds) {
    one.serial_ns = one.overlapped_ns = {.value = 100e6, .ci95 = Interval{99.6e6, 100.4e6}};
  }
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::dont);
  EXPECT_EQ(verdict_of(study).chosen_kind, "staged");
  study.kinds[2].serial_ns = study.kinds[2].overlapped_ns = {.value = 99.5e6, .ci95 = Interval{97e6, 102e6}};
  EXPECT_EQ(verdict_of(study).verdict, PinningVerdict::inconclusive);
  EXPECT_EQ(verdict_of(study).chosen_kind, "pinned");
}

TEST(PinVerdict, IsUnknownWithoutBoth) {
  StepStudy study = usual();
  study.kinds[1].unsupported = study.kinds[2].unsupported = "may not lock";
  EXPECT_FALSE(pin_verdict(study, ring_is_smaller));
  study = usual();
  study.kinds.erase(study.kinds.begin());
  EXPECT_FALSE(pin_verdict(study, ring_is_smaller));
  study = usual();
  study.kinds[2].unsupported = "may not lock so much";
  EXPECT_EQ(verdict_of(study).chosen_kind, "staged");
}

TEST(Overlap, HiddenPartOfTheCopy) {
  const StepStudy study = usual();
  EXPECT_NEAR(hidden_share(study, study.kinds[0])->value, 1 - 7.0 / 8, 1e-12);
  EXPECT_NEAR(hidden_share(study, study.kinds[2])->value, 0.75, 1e-12);
  EXPECT_NEAR(hidden_share(study, kind("pageable", 8, 48, 50, 41))->value, -0.25, 1e-12);
  // 40 ± 0.4 and 40.5 ± 0.4 tell nothing about a copy of half a millisecond.
  EXPECT_FALSE(hidden_share(study, kind("pinned", 0.5, 40.5, 40.5, 40)));
}

TEST(Overlap, SlowdownOnlyWhereIntervalsAreApart) {
  const StepStudy study = usual();
  EXPECT_FALSE(slowdown(study, kind("pinned", 4, 44, 41, 40.5)));
  EXPECT_NEAR(*slowdown(study, kind("pinned", 4, 44, 48, 44)), 0.1, 1e-12);
}

TEST(PinningCost, BetweenAndBeyondMeasuredSizes) {
  std::vector<PinningCost> costs;
  for (const auto& [bytes, ns] : {std::pair(100, 10), std::pair(400, 40), std::pair(1600, 640)}) {
    costs.push_back({.bytes = bytes, .pin_ns = {.value = 5.0 + ns}, .pageable_ns = 5});
  }
  EXPECT_EQ(pinning_cost_ns(costs, 50), 10);
  EXPECT_EQ(pinning_cost_ns(costs, 250), 25);
  EXPECT_EQ(pinning_cost_ns(costs, 400), 40);
  EXPECT_EQ(pinning_cost_ns(costs, 1000), 340);
  EXPECT_EQ(pinning_cost_ns(costs, 3200), 1280);
  EXPECT_FALSE(pinning_cost_ns({}, 5));
}

}  // namespace
}  // namespace bench::sweeps
