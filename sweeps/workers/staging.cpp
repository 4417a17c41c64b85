#include "sweeps/workers/staging.h"

#include <cmath>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/host/interrupt.h"
#include "bench/text/units.h"
#include "sweeps/workers/loader/cancel_token.h"

namespace bench::sweeps {
namespace {

// The system promises more memory than it has, and ends programs that use all of it.
void check_room(std::int64_t slots, std::int64_t slot_bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  constexpr std::int64_t kMostOfAvailable = 95;  // percent
  if (slots > kMost / slot_bytes) {
    throw OutOfMemory("the batches in the making would take more than 1024 TiB of host memory", kMost);
  }
  const std::int64_t available = host_info().available_bytes;
  if (slots * slot_bytes > available / 100 * kMostOfAvailable) {
    throw OutOfMemory(fmt::format("the batches in the making take {} of host memory, and {} are free",
                                  format_bytes(slots * slot_bytes), format_bytes(available)),
                      slots * slot_bytes);
  }
}

}  // namespace

Staging::Staging(const PipelineSpec& spec, Device& device, const Clock& clock)
    : device_(device),
      clock_(clock),
      kind_(spec.staging),
      slot_bytes_(spec.slot_bytes()),
      least_copy_(spec.bus_bytes_per_s > 0
                      ? std::llround(static_cast<double>(slot_bytes_) / spec.bus_bytes_per_s * 1e9)
                      : 0) {
  const std::int64_t slots = spec.host_slots();
  check_room(slots, slot_bytes_);
  std::byte* first = nullptr;
  if (Transfers* const transfers = transfers_of(device)) {
    const HostMemoryRequest request{.kind = kind_, .bytes = slots * slot_bytes_};
    if (const auto reason = transfers->cannot_hold(request)) {
      throw Unsupported(*reason);
    }
    memory_ = transfers->host_memory(request);
    queue_ = transfers->copy_queue();
    first = memory_->data();
  } else {
    if (kind_ == HostKind::pinned) {
      throw Unsupported("the device offers no pinned memory");
    }
    plain_ = loader::cache_lines(slots * slot_bytes_);
    first = reinterpret_cast<std::byte*>(plain_.data());
  }
  for (std::int64_t i = 0; i < slots; ++i) {
    slots_.push_back(first + i * slot_bytes_);
  }
  for (int i = 0; i < 2; ++i) {
    on_device_.push_back(device.allocate(slot_bytes_, MemoryCategory::input));
  }
}

void Staging::copy(const std::byte* slot) {
  const Clock::time_point begin = clock_.now();
  std::byte* const to = on_device_[turn_].data();
  turn_ = 1 - turn_;
  if (queue_) {
    queue_->start(
        {.direction = CopyDirection::to_device, .host = kind_, .to = to, .from = slot, .bytes = slot_bytes_});
    queue_->wait();
  } else {
    device_.upload(to, slot, slot_bytes_);
  }
  if (least_copy_.count() > 0) {
    loader::sleep_until(clock_, begin + least_copy_, interrupted);
  }
}

}  // namespace bench::sweeps
