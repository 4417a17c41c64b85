// A network of this program in place of one that was only read about: its memory by plan.
#pragma once

#include <optional>

#include "bench/advise/observed_advice.h"

namespace bench {

// Of the network that the readings name, at their batches, sequences and proposal, as eager PyTorch on a
// modelled card; nullopt where they name none. Throws UsageError for a name that is no network.
std::optional<StandIn> plan_stand_in(const Observed& observed);

}  // namespace bench
