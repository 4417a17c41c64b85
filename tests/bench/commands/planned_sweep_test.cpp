// Which points are planned, and when: a plan asks a library's heuristics, which takes long on a card.
#include "bench/commands/planned_sweep.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/bench/run/fake_device.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class PlannedSweepTest : public ::testing::Test {
 protected:
  PlannedSweepTest() { request_.memory_caps = {1000}; }

  // A batch takes 100 B and 10 B a sample.
  PlannedSweep plan(const std::vector<std::int64_t>& batches, bool open_ended,
                    const std::string& filter = "") {
    SweepPlan plan = testing::fake_plan(batches, open_ended);
    for (SweepPoint& point : plan.points) {
      testing::configured(point).on_plan = [this, batch = point.spec.batch] { planned_.push_back(batch); };
    }
    return {std::move(plan), request_, device_, filter};
  }
  static std::vector<std::int64_t> batches(const PlannedSweep& sweep) {
    std::vector<std::int64_t> all;
    for (const SweepPoint& point : sweep.plan().points) {
      all.push_back(point.spec.batch);
    }
    return all;
  }

  testing::FakeDevice device_;
  testing::ManualClock clock_;
  SweepRequest request_{clock_};
  std::vector<std::int64_t> planned_;
};

TEST_F(PlannedSweepTest, ARunPlansNoPointBeforeItsTurnButTheFirst) {
  const PlannedSweep sweep = plan({1, 2, 4, 8, 64, 128, 256}, true);
  EXPECT_THAT(planned_, ElementsAre(1));
  EXPECT_THAT(batches(sweep), ElementsAre(1, 2, 4, 8, 64, 128, 256));
}

TEST_F(PlannedSweepTest, AListOfAnOpenSeriesEndsWithTheFirstPointOverTheCap) {
  PlannedSweep sweep = plan({1, 64, 128, 256, 512}, true);
  sweep.stop_at_cap();
  EXPECT_THAT(batches(sweep), ElementsAre(1, 64, 128));
  EXPECT_THAT(planned_, ElementsAre(1, 64, 128));
  EXPECT_THAT(sweep.predict(sweep.plan().points.back()).problem, StartsWith("oom"));
}

TEST_F(PlannedSweepTest, AListOfChosenPointsHasThemAll) {
  PlannedSweep sweep = plan({1, 64, 128, 256, 512}, false);
  sweep.stop_at_cap();
  EXPECT_THAT(batches(sweep), ElementsAre(1, 64, 128, 256, 512));
}

TEST_F(PlannedSweepTest, TheFilterComesFirst) {
  PlannedSweep sweep = plan({1, 64, 128, 256, 512}, true, "batch:(128|256)");
  sweep.stop_at_cap();
  EXPECT_THAT(batches(sweep), ElementsAre(128));
}

TEST_F(PlannedSweepTest, AListOfManyPointsPlansEachOnce) {
  std::vector<std::int64_t> many(4096);
  std::iota(many.begin(), many.end(), 1);
  PlannedSweep sweep = plan(many, false);
  for (int time = 0; time < 2; ++time) {
    for (const SweepPoint& point : sweep.plan().points) {
      sweep.predict(point);
    }
  }
  EXPECT_EQ(planned_, many);
}

}  // namespace
}  // namespace bench
