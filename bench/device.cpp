#include "bench/device.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench {

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    category_ = other.category_;
  }
  return *this;
}

void Buffer::reset() noexcept {
  if (data_ != nullptr) {
    device_->raw_free(data_, bytes_);
    device_->tracker_.remove(category_, bytes_);
  }
  device_ = nullptr;
  data_ = nullptr;
  bytes_ = 0;
}

Buffer Device::allocate(std::int64_t bytes, MemoryCategory category) {
  if (bytes <= 0) {
    return {};
  }
  tracker_.add(category, bytes);
  std::byte* data = nullptr;
  try {
    data = raw_allocate(bytes);
  } catch (...) {
    tracker_.remove(category, bytes);
    throw;
  }
  if (data == nullptr) {
    tracker_.remove(category, bytes);
    throw OutOfMemory(fmt::format("{} has no {} B left for {}", info().id, bytes, name_of(category)), bytes);
  }
  return {*this, data, bytes, category};
}

// Each copy takes all that is there already, so the copies double in size.
void Device::repeat(void* data, std::int64_t period, std::int64_t bytes) {
  auto* const first = static_cast<std::byte*>(data);
  for (std::int64_t filled = period; filled > 0 && filled < bytes; filled *= 2) {
    copy_within(first + filled, first, std::min(filled, bytes - filled));
  }
}

std::optional<std::string> Device::cannot_record() const {
  return fmt::format("{} starts operations one by one and records no steps; only a CUDA device does",
                     info().id);
}

std::unique_ptr<RecordedStep> Device::record(const std::function<void()>& /*step*/) {
  throw Unsupported(cannot_record().value_or(fmt::format("{} records no steps", info().id)));
}

}  // namespace bench
