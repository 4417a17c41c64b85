#include "kernels/workloads/network/second_device.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/text/units.h"

namespace bench::kernels {
namespace {

std::unique_ptr<Device> open_like(const Device& measured, SecondDevice::Takes takes) {
  auto device = registry<DeviceKind>().find(measured.info().kind)->open(measured.info().id);
  if (takes == SecondDevice::Takes::first) {
    device->take_first_algorithms();
  }
  return device;
}

struct KeptDevice {
  std::mutex used;
  std::unique_ptr<Device> device;
};

// Never closed: when a process ends, the driver may have been closed before.
KeptDevice& kept_device(const std::string& id, SecondDevice::Takes takes) {
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<std::pair<std::string, SecondDevice::Takes>, KeptDevice>;
  const std::scoped_lock lock(mutex);
  return all[{id, takes}];
}

}  // namespace

SecondDevice::SecondDevice(const Device& measured, Takes takes) {
  if (measured.computes_on_host()) {
    own_ = open_like(measured, takes);
    device_ = own_.get();
    return;
  }
  KeptDevice& kept = kept_device(measured.info().id, takes);
  lock_ = std::unique_lock(kept.used);
  if (kept.device == nullptr) {
    kept.device = open_like(measured, takes);
  }
  device_ = kept.device.get();
}

// What is left free in its allocator would be missing for the measured device.
SecondDevice::~SecondDevice() {
  if (own_ == nullptr) {
    try {
      device_->drop_caches();
    } catch (...) {  // a card that was lost gives nothing back
      return;
    }
  }
}

std::int64_t SecondDevice::available_bytes() const {
  return own_ != nullptr ? own_->info().available_bytes
                         : device_->info().memory_bytes - device_->driver_used();
}

std::optional<std::string> no_room(std::string_view what, std::int64_t needed, std::int64_t available) {
  if (needed <= available / 10 * 8) {
    return std::nullopt;
  }
  return fmt::format("{} needs {}, and {} are free", what, format_bytes(needed), format_bytes(available));
}

}  // namespace bench::kernels
