// The fixed kernels on one of the host's cores.
#include "bench/host/calibration_kernels.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

// A clock that moves by the number of times it was asked: each run takes another time.
class CountingClock : public Clock {
 public:
  time_point now() const override {
    asked_ += 1;
    return time_point(std::chrono::nanoseconds(asked_ * asked_));
  }
  void sleep_until(time_point /*time*/) const override {}

 private:
  mutable int asked_ = 0;
};

// Runs take 3, 7, 11, … ns: the fifth of ten is the median of the arithmetic's, the eighth that of the
// copies.
TEST(HostCalibrationKernels, GiveTheMediansOfFiveRunsByTheClockGiven) {
  HostCalibrationKernels kernels;
  const Calibration taken = kernels.run(CountingClock());
  EXPECT_EQ(taken.arithmetic_ns, 11);
  EXPECT_EQ(taken.copy_ns, 31);
}

TEST(HostCalibrationKernels, TakeAboutAMillisecond) {
  HostCalibrationKernels kernels;
  const Calibration taken = kernels.run(steady_clock());
  EXPECT_GT(taken.arithmetic_ns, 1e4);
  EXPECT_GT(taken.copy_ns, 1e4);
}

}  // namespace
}  // namespace bench
