// A card that is not here as a device: operations and networks are planned on it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/device.h"
#include "kernels/backends/cudnn/convolution.h"
#include "kernels/devices/cuda/card.h"

namespace bench::kernels::testing {

// Plans alone: it has no memory, and runs nothing.
class AbsentCard final : public Device, public cuda::CardDevice {
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
  void upload(void*, const void*, std::int64_t) override {}
  void download(void*, const void*, std::int64_t) override {}
  void fill(void*, std::byte, std::int64_t) override {}
  void synchronize() override {}
  std::int64_t time(const std::function<void()>&) override { return 0; }
  std::int64_t driver_used() const override { return 0; }
  DeviceState state() const override { return {}; }
  Peaks peaks(Dtype) override { return {}; }
  cuda::Card& card() const override { return *card_; }

 protected:
  std::byte* raw_allocate(std::int64_t) override { return nullptr; }
  void raw_free(std::byte*, std::int64_t) noexcept override {}

 private:
  std::shared_ptr<cuda::Card> card_;
  DeviceInfo info_;
};

}  // namespace bench::kernels::testing
