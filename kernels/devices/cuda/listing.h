// The cards that are here, or the reason why none is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/device.h"
#include "kernels/devices/cuda/device.h"

namespace bench::kernels::cuda {

// One entry a card; where there is none, one entry "cuda" that says why: no driver, a driver too old for this
// program, a driver without a card, or what the runtime reports. Cards whose libraries are missing say so.
// Never throws for a missing card.
std::vector<DeviceKind::Listing> list_cards(const Backend& backend);

// Opens "cuda:N". Throws UsageError where list_cards() has no such usable card.
std::unique_ptr<Device> open_card(const Backend& backend, const std::string& id);

}  // namespace bench::kernels::cuda
