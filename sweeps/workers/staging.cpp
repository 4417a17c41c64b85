#include "sweeps/workers/staging.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/measure/units.h"

namespace bench::sweeps {

Staging::Staging(Device& device, HostKind kind, std::int64_t slots, std::int64_t slot_bytes)
    : device_(device), kind_(kind), slot_bytes_(slot_bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  if (slots > kMost / slot_bytes) {
    throw OutOfMemory("the batches in the making would take more than 1024 TiB of host memory", kMost);
  }
  // The system promises more memory than it has, and ends programs that use all of it.
  constexpr std::int64_t kMostOfAvailable = 95;  // percent
  const std::int64_t available = host_info().available_bytes;
  if (slots * slot_bytes > available / 100 * kMostOfAvailable) {
    throw OutOfMemory(fmt::format("the batches in the making take {} of host memory, and {} are free",
                                  format_bytes(slots * slot_bytes), format_bytes(available)),
                      slots * slot_bytes);
  }
  std::byte* first = nullptr;
  if (Transfers* const transfers = transfers_of(device)) {
    const HostMemoryRequest request{.kind = kind, .bytes = slots * slot_bytes};
    if (const auto reason = transfers->cannot_hold(request)) {
      throw Unsupported(*reason);
    }
    memory_ = transfers->host_memory(request);
    queue_ = transfers->copy_queue();
    first = memory_->data();
  } else {
    if (kind == HostKind::pinned) {
      throw Unsupported("the device offers no pinned memory");
    }
    plain_.resize(static_cast<std::size_t>(slots * slot_bytes));
    first = plain_.data();
  }
  for (std::int64_t i = 0; i < slots; ++i) {
    slots_.push_back(first + i * slot_bytes);
  }
  for (int i = 0; i < 2; ++i) {
    on_device_.push_back(device.allocate(slot_bytes, MemoryCategory::input));
  }
}

void Staging::copy(const std::byte* slot) {
  std::byte* const to = on_device_[turn_].data();
  turn_ = 1 - turn_;
  if (queue_) {
    queue_->start(
        {.direction = CopyDirection::to_device, .host = kind_, .to = to, .from = slot, .bytes = slot_bytes_});
    queue_->wait();
  } else {
    device_.upload(to, slot, slot_bytes_);
  }
}

}  // namespace bench::sweeps
