// A card that is not here as a device of its kind: operations and networks are planned on it, and nothing
// runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/device.h"
#include "kernels/backends/cudnn/graphs.h"
#include "kernels/devices/cuda/card.h"

namespace bench::kernels::cudnn {

// Keeps what was planned in `card`, which outlives it.
class AbsentCard : public Device, public cuda::CardDevice {
 public:
  // `info`'s kind is "cuda", for which operations are registered.
  AbsentCard(DeviceInfo info, cuda::Card& card) : info_(std::move(info)), card_(card) { info_.kind = "cuda"; }

  const DeviceInfo& info() const override { return info_; }
  cuda::Card& card() const override { return card_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return cudnn::unsupported(dtype, card_.compute_capability());
  }
  std::optional<std::string> cannot_record() const override { return std::nullopt; }

  void upload(void* /*device_dst*/, const void* /*host_src*/, std::int64_t /*bytes*/) override { refuse(); }
  void download(void* /*host_dst*/, const void* /*device_src*/, std::int64_t /*bytes*/) override { refuse(); }
  void fill(void* /*device_dst*/, std::byte /*value*/, std::int64_t /*bytes*/) override { refuse(); }
  void synchronize() override { refuse(); }
  std::int64_t time(const std::function<void()>& /*step*/) override { refuse(); }
  std::int64_t driver_used() const override { return 0; }
  DeviceState state() const override { return {}; }
  Peaks peaks(Dtype /*dtype*/) override { return {}; }

 protected:
  std::byte* raw_allocate(std::int64_t /*bytes*/) override { return nullptr; }
  void raw_free(std::byte* /*data*/, std::int64_t /*bytes*/) noexcept override {}

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("nothing runs on a card that is not here"); }

  DeviceInfo info_;
  cuda::Card& card_;
};

}  // namespace bench::kernels::cudnn
