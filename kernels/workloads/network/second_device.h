// A second device of a measured one's kind, for work whose answer is compared with the measured one's: it is
// no part of the memory that is measured, nor of its cap.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "bench/device.h"

namespace bench::kernels {

// A card's is opened once in a process: its libraries' handles and plans take seconds to make. Between two
// uses it keeps no memory for tensors.
class SecondDevice {
 public:
  // Of algorithms: the first that runs, or for answers that hardly differ the fastest, as the measured one's.
  enum class Takes { first, fastest };

  explicit SecondDevice(const Device& measured, Takes takes = Takes::first);
  SecondDevice(const SecondDevice&) = delete;
  SecondDevice& operator=(const SecondDevice&) = delete;
  ~SecondDevice();

  Device& operator*() const { return *device_; }
  Device* operator->() const { return device_; }
  std::int64_t available_bytes() const;  // now

 private:
  std::unique_ptr<Device> own_;        // of the host, which is quick to open
  std::unique_lock<std::mutex> lock_;  // of one that is kept: one user at a time
  Device* device_;
};

// Why work that is compared with the measured one's is left out: it would take more than eight tenths of what
// is free. nullopt where there is room.
std::optional<std::string> no_room(std::string_view what, std::int64_t needed, std::int64_t available);

}  // namespace bench::kernels
