// `bench predict --cards`: training on several cards, from one card's curves, measured or predicted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/evaluate/evaluated_device.h"
#include "bench/model/cards_step.h"
#include "bench/model/links.h"
#include "bench/result/result.h"

namespace bench {

struct CardsRequest {
  std::vector<std::int64_t> cards;
  CardsLink link;                       // as it joins such cards
  std::vector<std::string> dtypes{};    // empty: all
  std::vector<std::int64_t> batches{};  // of a card; empty: all
  bool at_saturation = false;           // each dtype's saturation batch alone
};

struct CardsPrediction {
  std::string workload{};
  std::string device;         // the one card
  bool is_predicted = false;  // it is not here
  bool overlap = true;
  std::string link{};                   // in words
  std::string link_source{};            // where its rates come from
  std::vector<std::string> cautions{};  // sentences on the link
  std::vector<CardsLoss> losses{};      // that were used
  std::vector<CardsStep> steps{};       // by dtype and batch, then cards growing, one first
  std::vector<std::string> machines{};  // sentences, where several were measured
  std::vector<std::string> basis{};     // sentences: what a prediction of the one card rests on
  std::vector<std::string> caveats{};   // sentences: and what may be wrong with it
};

// Whether it has a training step to predict from.
bool holds_timeline(const ResultDocument& document);
// The result's label, but for a cards sweep's, which names its ranks too.
std::string workload_of(const ResultDocument& document);

// Throws UsageError naming --from and the file where the device has no training step with a timeline, and
// --dtype or --batch where no such point is left.
CardsPrediction predict_cards(const EvaluatedDevice& device, const CardsRequest& request,
                              const LinkCatalogue& catalogue);

}  // namespace bench
