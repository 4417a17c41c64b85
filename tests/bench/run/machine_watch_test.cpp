// Calibration at a pace that costs a run next to nothing, and what a round is told of its machine.
#include "bench/run/machine_watch.h"

#include <gtest/gtest.h>

#include "tests/bench/run/fake_device.h"
#include "tests/bench/support/manual_clock.h"

namespace bench {
namespace {

using testing::ManualClock;

// Each reading takes so long, and tells how many there were.
Calibrator calibrator_of(ManualClock& clock, std::chrono::nanoseconds duration) {
  return {{{"host",
            [&clock, duration, count = 0]() mutable {
              clock.advance(duration);
              return Calibration{.arithmetic_ns = static_cast<double>(++count), .copy_ns = 7};
            }}},
          clock};
}

TEST(Calibrator, TakesAReadingAtOnceAndThenAtMostOnePercentOfTheTime) {
  ManualClock clock;
  Calibrator calibrator = calibrator_of(clock, std::chrono::milliseconds(2));
  EXPECT_EQ(calibrator.read().at("host").arithmetic_ns, 1);
  EXPECT_EQ(calibrator.read().at("host").arithmetic_ns, 1) << "the last reading";
  clock.advance(std::chrono::milliseconds(197));
  EXPECT_EQ(calibrator.read().at("host").arithmetic_ns, 1);
  clock.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(calibrator.read().at("host").arithmetic_ns, 2);
  EXPECT_EQ(calibrator.readings(), 2);
}

TEST(Calibrator, CostsAtMostOnePercentOfARun) {
  ManualClock clock;
  const Clock::time_point start = clock.now();
  Calibrator calibrator = calibrator_of(clock, std::chrono::microseconds(2500));
  while (clock.now() - start < std::chrono::seconds(15)) {
    calibrator.read();
    clock.advance(std::chrono::milliseconds(3));
  }
  const double spent_ms = 2.5 * static_cast<double>(calibrator.readings());
  EXPECT_LE(spent_ms, 0.01 * 15'000 + 2.5);
  EXPECT_GE(calibrator.readings(), 55);
}

TEST(MachineWatch, DescribesTheRound) {
  ManualClock clock;
  CoreTicks ticks;
  CpuUsageWatch usage([&] { return CpuTimes{.ticks = ticks, .own_s = 0, .at = clock.now()}; }, 2);
  MachineWatch watch(calibrator_of(clock, std::chrono::milliseconds(1)), std::move(usage),
                     [] { return 1.5; });
  clock.advance(std::chrono::seconds(1));
  ticks = {.busy = 60, .stolen = 10, .all = 200};
  MeasuredRound round;
  watch.describe(round);
  EXPECT_DOUBLE_EQ(round.steal.value(), 0.05);
  EXPECT_DOUBLE_EQ(round.other_cores.value(), 0.5);
  EXPECT_EQ(round.load, 1.5);
  EXPECT_EQ(round.calibration.at("host").copy_ns, 7);
}

TEST(MachineWatch, LeavesOutWhatTheSystemDoesNotTell) {
  const ManualClock clock;
  MachineWatch watch(Calibrator({}, clock), CpuUsageWatch([] { return std::optional<CpuTimes>(); }, 2),
                     [] { return std::optional<double>(); });
  MeasuredRound round;
  watch.describe(round);
  EXPECT_EQ(round, MeasuredRound());
}

// A device with kernels of its own.
class CalibratedDevice : public testing::FakeDevice {
 public:
  std::optional<Calibration> calibrate() override { return Calibration{.arithmetic_ns = 3, .copy_ns = 4}; }
};

TEST(WatchMachine, CalibratesTheHostAndTheDeviceWhereItIsAnotherProcessor) {
  testing::FakeDevice on_host;
  CalibratedDevice card;
  MeasuredRound round;
  watch_machine(on_host, steady_clock()).describe(round);
  EXPECT_EQ(round.calibration.size(), 1U);
  EXPECT_GT(round.calibration.at("host").arithmetic_ns, 0);
  watch_machine(card, steady_clock()).describe(round);
  EXPECT_EQ(round.calibration.at("device"), (Calibration{.arithmetic_ns = 3, .copy_ns = 4}));
}

}  // namespace
}  // namespace bench
