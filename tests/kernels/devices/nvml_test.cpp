#include "kernels/devices/cuda/nvml.h"

#include <dlfcn.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::kernels::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kCard = "0000:01:00.0";

TEST(ThrottleReasons, EachBitIsTestedForItself) {
  EXPECT_THAT(throttle_reasons(0), IsEmpty());
  EXPECT_THAT(throttle_reasons(0x4), ElementsAre("sw_power_cap"));
  EXPECT_THAT(throttle_reasons(0x8), ElementsAre("hw_slowdown"));
  EXPECT_THAT(throttle_reasons(0x4 | 0x20), ElementsAre("sw_power_cap", "sw_thermal_slowdown"));
  EXPECT_THAT(throttle_reasons(0x10 | 0x40 | 0x80),
              ElementsAre("sync_boost", "hw_thermal_slowdown", "hw_power_brake_slowdown"));
}

TEST(ThrottleReasons, IdleAndClocksThatWereSetAreNone) {
  EXPECT_THAT(throttle_reasons(0x1 | 0x2 | 0x100), IsEmpty());
  EXPECT_THAT(throttle_reasons(0x1 | 0x4), ElementsAre("sw_power_cap"));
}

TEST(ThrottleReasons, ABitOfAFutureDriverIsNotLost) {
  EXPECT_THAT(throttle_reasons(std::uint64_t{1} << 63 | 0x200), ElementsAre("nvml_bit_9", "nvml_bit_63"));
}

TEST(Nvml, WithoutTheLibraryThereIsNoMonitor) {
  EXPECT_EQ(open_nvml(kCard, "libof-this-name-there-is-none.so.1"), nullptr);
}

// libm: a library, but not this one.
TEST(Nvml, ALibraryWithoutItsFunctionsIsNone) {
  EXPECT_EQ(open_nvml(kCard, "libm.so.6"), nullptr);
}

class FakeLibrary : public ::testing::Test {
 protected:
  // Calls of nvmlInit without nvmlShutdown.
  static int open_sessions() {
    void* const library = dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    auto* const started = reinterpret_cast<int (*)()>(dlsym(library, "fake_nvml_started"));
    return started();  // stays open, so that the count is kept
  }
};

TEST_F(FakeLibrary, TellsTheCardsCondition) {
  const auto monitor = open_nvml(kCard, FAKE_NVML);
  ASSERT_NE(monitor, nullptr);
  const DeviceState state = monitor->state();
  EXPECT_EQ(state.clock_mhz, 1807);
  EXPECT_EQ(state.temperature_c, 61);
  EXPECT_EQ(state.power_w, 151.25);
  EXPECT_THAT(state.throttle_reasons, ElementsAre("sw_power_cap", "hw_thermal_slowdown"));
  ASSERT_TRUE(monitor->link());
  EXPECT_EQ(monitor->link()->generation, 3);
  EXPECT_EQ(monitor->link()->width, 8);
  EXPECT_FALSE(monitor->best_link()) << "the library has no such function";
  EXPECT_EQ(monitor->driver_version(), "535.161.08");
  EXPECT_EQ(monitor->power_limit_w(), 170.0);
}

TEST_F(FakeLibrary, TellsItsClocksAndTheirHighest) {
  const Clocks clocks = open_nvml(kCard, FAKE_NVML)->clocks();
  EXPECT_EQ(clocks.sm, 1807);
  EXPECT_EQ(clocks.sm_max, 2100);
  EXPECT_EQ(clocks.memory, 7300);
  EXPECT_EQ(clocks.memory_max, 7501);
  EXPECT_EQ(open_nvml("0000:05:00.0", FAKE_NVML)->clocks().memory, std::nullopt);
}

TEST_F(FakeLibrary, WhatACardDoesNotTellIsAbsentAndNotZero) {
  const auto monitor = open_nvml("0000:05:00.0", FAKE_NVML);
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(monitor->state().power_w, std::nullopt);
  EXPECT_EQ(monitor->state().temperature_c, 61);
}

// The other figure is a mean of the last second: that of the points before.
TEST_F(FakeLibrary, TellsThePowerOfTheMomentWhereTheCardDoes) {
  EXPECT_EQ(open_nvml("0000:07:00.0", FAKE_NVML)->state().power_w, 321.5);
  EXPECT_EQ(open_nvml(kCard, FAKE_NVML)->state().power_w, 151.25);
}

TEST_F(FakeLibrary, ACardItDoesNotKnowHasNoMonitorAndNoSessionStaysOpen) {
  const int before = open_sessions();
  EXPECT_EQ(open_nvml("0000:02:00.0", FAKE_NVML), nullptr);
  {
    const auto monitor = open_nvml(kCard, FAKE_NVML);
    EXPECT_EQ(open_sessions(), before + 1);
  }
  EXPECT_EQ(open_sessions(), before);
}

}  // namespace
}  // namespace bench::kernels::cuda
