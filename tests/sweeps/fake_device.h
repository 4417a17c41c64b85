// A device that knows which dtypes it has, and nothing else.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "bench/device.h"

namespace bench::testing {

class FakeDevice : public Device {
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

 private:
  std::set<Dtype> supported_;
  DeviceInfo info_;
};

}  // namespace bench::testing
