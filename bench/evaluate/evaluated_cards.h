// The same device several times, training one network together: predicted from one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/evaluate/evaluated_device.h"
#include "bench/model/cards_step.h"

namespace bench {

// Of its data sheet.
LinkedCard linked_card(const EvaluatedDevice& device);

// So many of it, joined by `link` as it joins such cards. Adds the losses that it uses. Throws UsageError
// where a point has no timeline.
EvaluatedDevice several_cards(const EvaluatedDevice& one, std::int64_t cards, const CardsLink& link,
                              const LinkCatalogue& catalogue, std::vector<CardsLoss>& losses);

// Adds each device once more for each number of cards, labelled "4×t4", behind it. `links`: of each device,
// or one of all. Batches and bytes stay those of a card, as do prices; throughput, power and cost are of all.
// Returns what was assumed, a sentence each. Throws UsageError where the task is not training, or a measured
// point has no timeline.
std::vector<std::string> add_cards(EvaluatedDevices& devices, const std::vector<std::int64_t>& cards,
                                   const std::vector<CardsLink>& links, const LinkCatalogue& catalogue);

}  // namespace bench
