// Cards that are not here, as cuDNN plans for them: see cards.json.
#pragma once

#include <array>
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

// Whether cuDNN finds a libcuda.so.1: the driver's, or the stub that the toolkit brings for linking, which
// has that name and stays loaded. Without one it lists no plan of attention.
bool has_driver_library();

// Whether BENCH_FEW_PLANS is set, as in `make test`: some plans are compared and built, not all.
bool few_plans();

// Inference, training and backward.
extern const std::array<Attention, 3> kAttentionPasses;

}  // namespace bench::kernels::testing
