// How often a second device is opened for verification, on made-up devices.
#include "kernels/workloads/network/second_device.h"

#include <gtest/gtest.h>

#include "bench/registry.h"
#include "tests/bench/run/fake_device.h"

namespace bench::kernels {
namespace {

struct Opened {
  int devices = 0;
  int told_to_take_the_first = 0;
  int dropped = 0;
};
Opened opened;

class CountedDevice final : public bench::testing::FakeDevice {
 public:
  explicit CountedDevice(bool on_host) : on_host_(on_host) {
    info_ = FakeDevice::info();
    info_.kind = on_host ? "counted host" : "counted card";
    info_.id = info_.kind + ":0";
    info_.memory_bytes = 1000;
    info_.available_bytes = 900;
    memory_used = 300;
  }
  const DeviceInfo& info() const override { return info_; }
  bool computes_on_host() const override { return on_host_; }
  void take_first_algorithms() override { ++opened.told_to_take_the_first; }
  void drop_caches() override { ++opened.dropped; }

 private:
  bool on_host_;
  DeviceInfo info_;
};

DeviceKind counted(bool on_host) {
  return {.name = on_host ? "counted host" : "counted card",
          .preference = -1,
          .list = [] { return std::vector<DeviceKind::Listing>(); },
          .open = [on_host](const std::string&) -> std::unique_ptr<Device> {
            ++opened.devices;
            return std::make_unique<CountedDevice>(on_host);
          }};
}
const Registration<DeviceKind> counted_host{counted(true)};
const Registration<DeviceKind> counted_card{counted(false)};

TEST(SecondDevice, OfACardIsOpenedOnceAndGivesItsMemoryBackEachTime) {
  opened = {};
  const CountedDevice measured(false);
  for (int use = 1; use <= 3; ++use) {
    const SecondDevice second(measured);
    EXPECT_NE(&*second, &measured);
    EXPECT_EQ(second.available_bytes(), 700) << "now, not when it was opened";
    EXPECT_EQ(opened.dropped, use - 1);
  }
  EXPECT_EQ(opened.devices, 1);
  EXPECT_EQ(opened.told_to_take_the_first, 1);
  EXPECT_EQ(opened.dropped, 3);
}

// It opens at once, and the system's free memory is another each time.
TEST(SecondDevice, OfTheHostIsOpenedEachTime) {
  opened = {};
  const CountedDevice measured(true);
  for (int use = 0; use < 2; ++use) {
    EXPECT_EQ(SecondDevice(measured).available_bytes(), 900);
  }
  EXPECT_EQ(opened.devices, 2);
  EXPECT_EQ(opened.dropped, 0) << "the host's kept code is the measured device's too";
}

}  // namespace
}  // namespace bench::kernels
