// A device that knows which dtypes it has, and nothing else.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "bench/device.h"
#include "tests/bench/support/idle_device.h"

namespace bench::testing {

class FakeDevice : public IdleDevice {
 public:
  explicit FakeDevice(std::set<Dtype> supported, const std::string& kind = "cpu",
                      std::int64_t memory_bytes = 0, std::map<std::string, std::string> details = {})
      : supported_(std::move(supported)) {
    info_.kind = kind;
    info_.memory_bytes = memory_bytes;
    info_.details = std::move(details);
  }

  const DeviceInfo& info() const override { return info_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return supported_.contains(dtype) ? std::nullopt : std::optional<std::string>("not here");
  }
  bool computes_on_host() const override { return info_.kind == "cpu"; }

 private:
  std::set<Dtype> supported_;
  DeviceInfo info_;
};

}  // namespace bench::testing
