// A card that is not here as a device of its kind: operations and networks are planned on it, and nothing
// runs.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "bench/device.h"
#include "kernels/backends/cudnn/graphs.h"
#include "kernels/devices/absent_device.h"
#include "kernels/devices/cuda/card.h"

namespace bench::kernels::cudnn {

// Keeps what was planned in `card`, which outlives it.
class AbsentCard : public AbsentDevice, public cuda::CardDevice {
 public:
  // `info`'s kind is "cuda", for which operations are registered.
  AbsentCard(DeviceInfo info, cuda::Card& card) : info_(std::move(info)), card_(card) { info_.kind = "cuda"; }

  const DeviceInfo& info() const override { return info_; }
  cuda::Card& card() const override { return card_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return cudnn::unsupported(dtype, card_.compute_capability());
  }
  std::optional<std::string> cannot_record() const override { return std::nullopt; }

  Peaks peaks(Dtype /*dtype*/) override { return {}; }

 private:
  DeviceInfo info_;
  cuda::Card& card_;
};

}  // namespace bench::kernels::cudnn
