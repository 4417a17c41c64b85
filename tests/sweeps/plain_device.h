// A device of plain memory, for what is to be run and not only planned.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/sweeps/fake_device.h"

namespace bench::sweeps::testing {

// Whose memory is the host's, unknown to those that use it.
class PlainDevice : public bench::testing::FakeDevice {
 public:
  PlainDevice() : FakeDevice({Dtype::fp32}) {}
  void upload(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    ++uploads;
    if (uploaded.empty()) {
      uploaded.assign(static_cast<const std::byte*>(from), static_cast<const std::byte*>(from) + bytes);
    }
  }
  void download(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void fill(void* to, std::byte value, std::int64_t bytes) override {
    if (bytes > 0) {
      std::memset(to, std::to_integer<int>(value), static_cast<std::size_t>(bytes));
    }
  }
  std::int64_t time(const std::function<void()>& step) override {
    step();
    return 1'000'000;
  }
  std::int64_t uploads = 0;
  std::vector<std::byte> uploaded;  // by the first since it was cleared

 protected:
  std::byte* raw_allocate(std::int64_t bytes) override {
    return static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(bytes)));  // NOLINT
  }
  void raw_free(std::byte* data, std::int64_t /*bytes*/) noexcept override { std::free(data); }  // NOLINT
};

}  // namespace bench::sweeps::testing
