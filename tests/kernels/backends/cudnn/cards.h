// Cards that are not here, as cuDNN plans for them: see cards.json.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/backends/cudnn/plans.h"

namespace bench::kernels::testing {

struct Card {
  std::string name;  // "RTX 3060"
  // Planned for, and what was planned kept: see kernels/devices/cuda/card.h.
  std::shared_ptr<cuda::Card> card;
};
inline void PrintTo(const Card& card, std::ostream* out) {
  *out << card.name;
}

const std::vector<Card>& cards();
const Card& card(const std::string& name);

// Why cuDNN cannot plan on this machine; nullopt where it can. From some version after 9.19 on, 9.28 at the
// latest, its engines load the driver's library even to plan for a card that is not here.
const std::optional<std::string>& cannot_plan();

}  // namespace bench::kernels::testing
