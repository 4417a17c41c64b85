// A device that is not here: work is planned on it, and it allocates and runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "bench/device.h"

namespace bench::kernels {

class AbsentDevice : public Device {
 public:
  void upload(void* /*device_dst*/, const void* /*host_src*/, std::int64_t /*bytes*/) override { refuse(); }
  void download(void* /*host_dst*/, const void* /*device_src*/, std::int64_t /*bytes*/) override { refuse(); }
  void fill(void* /*device_dst*/, std::byte /*value*/, std::int64_t /*bytes*/) override { refuse(); }
  void synchronize() override { refuse(); }
  std::int64_t time(const std::function<void()>& /*step*/) override { refuse(); }
  std::int64_t driver_used() const override { return 0; }
  DeviceState state() const override { return {}; }

 protected:
  std::byte* raw_allocate(std::int64_t /*bytes*/) override { refuse(); }
  void raw_free(std::byte* /*data*/, std::int64_t /*bytes*/) noexcept override {}

 private:
  [[noreturn]] void refuse() const {
    throw std::logic_error(info().id + " is not here: it allocates and runs nothing");
  }
};

}  // namespace bench::kernels
