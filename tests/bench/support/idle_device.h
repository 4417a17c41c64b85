// A device that has no memory and runs nothing: the base of those that a test asks or plans for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "bench/device.h"

namespace bench {

class IdleDevice : public Device {
 public:
  void upload(void*, const void*, std::int64_t) override {}
  void download(void*, const void*, std::int64_t) override {}
  void fill(void*, std::byte, std::int64_t) override {}
  void synchronize() override {}
  std::int64_t time(const std::function<void()>&) override { return 0; }
  std::int64_t driver_used() const override { return 0; }
  DeviceState state() const override { return {}; }
  Peaks peaks(Dtype) override { return {}; }

 protected:
  std::byte* raw_allocate(std::int64_t) override { return nullptr; }
  void raw_free(std::byte*, std::int64_t) noexcept override {}
};

}  // namespace bench
