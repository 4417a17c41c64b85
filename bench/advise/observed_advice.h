// Advice from a person's readings, by arithmetic, plans and replays: nothing is measured here, and what is
// missing is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/observed.h"
#include "bench/memory.h"
#include "bench/model/links.h"

namespace bench {

// Memory that a network of this program would take on a card, planned, in place of the user's own.
struct StandInPlan {
  std::int64_t batch = 0;
  std::optional<std::int64_t> sequence;
  std::string dtype;
  MemoryPlan memory;
};
struct StandIn {
  std::string name;
  std::string planned_for;  // "eager PyTorch, by the model of a T4"
  std::string optimizer;
  std::vector<StandInPlan> plans;
  double largest_parameter = 0;  // its share of all parameters; 0: not known
  LinkCatalogue links{};         // between cards, to choose from; without losses
};

// What a result of the cards sweep says of a network that was run in place of the user's own.
struct StandInRun {
  std::string path;
  std::vector<std::string> findings{};  // sentences
};

// Without a stand-in the tables that need a plan are left out.
Advice advice_from_readings(const Observed& observed, const std::optional<StandIn>& stand_in,
                            const std::optional<StandInRun>& run = std::nullopt);

}  // namespace bench
