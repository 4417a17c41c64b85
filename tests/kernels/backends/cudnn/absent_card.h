// A card of cards.json as a device: operations and networks are planned on it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/backends/cudnn/absent_card.h"
#include "kernels/devices/cuda/card.h"

namespace bench::kernels::testing {

class AbsentCard final : public cudnn::AbsentCard {
 public:
  AbsentCard(const std::string& name, std::shared_ptr<cuda::Card> card)
      : cudnn::AbsentCard(described(name, *card), *card), owned_(std::move(card)) {}

 private:
  static DeviceInfo described(const std::string& name, const cuda::Card& card) {
    const auto properties = nlohmann::json::parse(card.properties());
    DeviceInfo info;
    info.id = "cuda:0";
    info.name = name;
    info.memory_bytes = properties.at("totalGlobalMem");
    info.compute_units = properties.at("multiProcessorCount");
    return info;
  }

  std::shared_ptr<cuda::Card> owned_;
};

}  // namespace bench::kernels::testing
