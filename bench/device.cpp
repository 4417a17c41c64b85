#include "bench/device.h"

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
  std::byte* data = raw_allocate(bytes);
  if (data == nullptr) {
    tracker_.remove(category, bytes);
    throw OutOfMemory(fmt::format("{} has no {} B left for {}", info().id, bytes, name_of(category)), bytes);
  }
  return {*this, data, bytes, category};
}

}  // namespace bench
