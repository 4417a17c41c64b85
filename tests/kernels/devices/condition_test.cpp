// A card's condition from readings during the steps; the clock is the test's.
#include "kernels/devices/cuda/nvml.h"

#include <gmock/gmock.h>

#include "fake_runtime.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConditionWatch::Time kStart{};

TEST(ConditionWatch, AReasonThatIsGoneAgainIsKept) {
  testing::FakeMonitor monitor;
  ConditionWatch watch(&monitor);
  monitor.now = testing::condition(1400, {"sw_power_cap"});
  watch.while_working(kStart);
  monitor.now = testing::condition(1500, {"hw_slowdown", "sw_power_cap"});
  watch.while_working(kStart + ConditionWatch::kEvery);
  monitor.now = testing::condition(300);  // idle again
  const DeviceState state = watch.take();
  EXPECT_THAT(state.throttle_reasons, ::testing::UnorderedElementsAre("sw_power_cap", "hw_slowdown"));
  EXPECT_EQ(state.clock_mhz, 1500) << "of the working card";
}

TEST(ConditionWatch, StartsAnewOnceTaken) {
  testing::FakeMonitor monitor;
  ConditionWatch watch(&monitor);
  monitor.now = testing::condition(1400, {"sw_power_cap"});
  watch.while_working(kStart);
  watch.take();
  monitor.now = testing::condition(1800);
  watch.while_working(kStart);  // at once, though the last reading is young
  const DeviceState state = watch.take();
  EXPECT_THAT(state.throttle_reasons, IsEmpty());
  EXPECT_EQ(state.clock_mhz, 1800);
}

TEST(ConditionWatch, WithoutStepsTheCardIsAskedNow) {
  testing::FakeMonitor monitor;
  ConditionWatch watch(&monitor);
  monitor.now = testing::condition(300, {"hw_slowdown"});
  EXPECT_THAT(watch.take().throttle_reasons, ElementsAre("hw_slowdown"));
}

TEST(ConditionWatch, AsksNoMoreThanEverySoOften) {
  testing::FakeMonitor monitor;
  ConditionWatch watch(&monitor);
  for (int ms = 0; ms < 100; ++ms) {
    watch.while_working(kStart + std::chrono::milliseconds(ms));
  }
  EXPECT_EQ(monitor.readings, 100 / ConditionWatch::kEvery.count());
}

TEST(ConditionWatch, KnowsNothingWithoutAMonitor) {
  ConditionWatch watch(nullptr);
  watch.while_working(kStart);
  EXPECT_EQ(watch.take().clock_mhz, std::nullopt);
}

}  // namespace
}  // namespace bench::kernels::cuda
