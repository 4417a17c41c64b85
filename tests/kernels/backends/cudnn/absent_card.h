// A card that is not here as a device: operations and networks are planned on it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/device.h"
#include "kernels/backends/cudnn/graphs.h"
#include "kernels/devices/cuda/card.h"
#include "tests/bench/support/idle_device.h"

namespace bench::kernels::testing {

// Plans alone: it has no memory, and runs nothing.
class AbsentCard final : public IdleDevice, public cuda::CardDevice {
 public:
  AbsentCard(const std::string& name, std::shared_ptr<cuda::Card> card) : card_(std::move(card)) {
    const auto properties = nlohmann::json::parse(card_->properties());
    info_.id = "cuda:0";
    info_.kind = "cuda";
    info_.name = name;
    info_.memory_bytes = properties.at("totalGlobalMem");
    info_.compute_units = properties.at("multiProcessorCount");
  }
  const DeviceInfo& info() const override { return info_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return cudnn::unsupported(dtype, card_->compute_capability());
  }
  std::optional<std::string> cannot_record() const override { return std::nullopt; }
  cuda::Card& card() const override { return *card_; }

 private:
  std::shared_ptr<cuda::Card> card_;
  DeviceInfo info_;
};

}  // namespace bench::kernels::testing
