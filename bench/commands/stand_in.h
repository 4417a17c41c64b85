// A network of this program in place of one that was only read about: its memory by plan.
#pragma once

#include <filesystem>
#include <optional>

#include "bench/advise/observed_advice.h"

namespace bench {

// Of the network that the readings name, at their batches, sequences and proposal, as eager PyTorch on a
// modelled card; nullopt where they name none. Throws UsageError for a name that is no network.
std::optional<StandIn> plan_stand_in(const Observed& observed);

// The result that the readings name, which are in `folder`; nullopt where they name none. Throws UsageError
// where it cannot be read or is no result of the cards sweep.
std::optional<StandInRun> read_stand_in_run(const Observed& observed, const std::filesystem::path& folder);

}  // namespace bench
