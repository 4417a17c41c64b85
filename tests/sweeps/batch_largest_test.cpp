// The largest batch below the cap: the batch sweep asks the plan, and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/memory_machine.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Le;

// Batches to 16 of a workload of 1000 bytes and 100 a sample were measured, the cap is 5000 bytes.
class BatchLargest : public ::testing::Test {
 protected:
  Finding largest(
      MachineNumbers numbers, const PlanningEnd& end = [] { return std::nullopt; }) {
    numbers.on_plan = [this] { ++plans_; };
    const WorkloadType type = machine_workload(numbers);
    const testing::ManualClock clock;
    SweepRequest request(clock);
    request.workload = &type;
    request.modes = {"infer"};
    request.dtypes = {Dtype::fp32};
    request.memory_caps = {5000};
    MemoryMachine machine;
    const auto sweep = registry<SweepType>().find("batch")->make(request, machine);
    plans_ = 0;
    sweep->predict(end);
    planned_ = plans_;
    EXPECT_EQ(machine.allocations, 0);
    ResultDocument document;
    document.sweep.axes = sweep->plan().axes;
    document.sweep.memory_cap_bytes = request.largest_cap();
    for (const SweepPoint& point : sweep->plan().points) {
      if (point.spec.batch <= 16) {
        document.points.push_back(measured_point(point, machine));
      }
    }
    const auto findings = sweep->findings(document);
    return *std::ranges::find(findings, "largest_batch", &Finding::name);
  }

  int plans_ = 0;
  int planned_ = 0;  // to find the largest batch
};

// From batch 20 on each sample takes 50 bytes more, which no measured point shows: a line leads to 40.
std::int64_t more_from_20(std::int64_t batch) {
  return 50 * std::max<std::int64_t>(0, batch - 20);
}

TEST_F(BatchLargest, IsThePlansAndNotTheLines) {
  const Finding found = largest({.more = more_from_20});
  EXPECT_EQ(found.value, 33);  // 1000 + 100 · 33 + 50 · 13 = 4950
  EXPECT_EQ(found.claim, "Batch 33 of fp32 would just fit in 4.88 KiB (calculated, not run).");
  EXPECT_EQ(found.details["source"], "planned");
  EXPECT_THAT(planned_, AllOf(::testing::Gt(0), Le(16)));
}

TEST_F(BatchLargest, IsTheLinesWherePlanningEnds) {
  const Finding found = largest({.more = more_from_20}, [] { return "the time budget ended"; });
  EXPECT_EQ(found.value, 40);
  EXPECT_EQ(found.claim, "Batch about 40 of fp32 would just fit in 4.88 KiB (extrapolated from batch 16).");
  EXPECT_EQ(found.details["source"], "extrapolated");
  EXPECT_EQ(planned_, 0);
}

TEST_F(BatchLargest, SaysWhereAnOperationEndsBeforeTheMemory) {
  const Finding found = largest({.largest = 30});
  EXPECT_EQ(found.value, 30);
  expect_words(found.claim);
}

TEST_F(BatchLargest, SaysWhereATensorEndsBeforeTheMemory) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const Finding found = largest({.a_sample = 0, .most_taken = kMost});
  EXPECT_EQ(found.value, kMost);
  expect_words(found.claim);
}

TEST_F(BatchLargest, ThereIsNoneWhereMemoryDoesNotGrow) {
  const Finding found = largest({.a_sample = 0});
  EXPECT_FALSE(found.value);
  expect_words(found.claim);
}

}  // namespace
}  // namespace bench
