// Whether more ranks pay, and what limits them: each says "not significant" where the intervals do not
// decide.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/result.h"
#include "sweeps/cards/findings.h"

namespace bench::sweeps {

// "63 ± 4 %"; without an interval "63 %".
std::string percent_in_words(const Estimate& share);

// Ranks pay as long as each that is added gives at least half of what the first gives. `scaling`: of one
// batch, by growing ranks.
Finding claim_cards(const std::vector<CardsPoint>& scaling, const CardsPoint& alone, bool strong);
// "One rank alone was not measured, …", and what to do. `ranks`: of the point that it is missed for.
std::string alone_was_not_measured(const ResultDocument& document, int ranks);
// Where one rank was not measured: what the most ranks' batch asks for.
Finding claim_batch(const CardsPoint& most, bool strong, const ResultDocument& document);

// Where a card's bus or its host takes nearly as long as a step; nullopt: neither does, or it is not known.
std::optional<Finding> claim_card_limit(const CardsPoint& point);

// The larger part of what a step of several ranks takes longer than alone.
Finding claim_limit(const CardsPoint& point, const CardsPoint& alone, const CardsSetup& setup);

// The rank that computes longer than the others.
Finding claim_balance(const CardsPoint& point);

}  // namespace bench::sweeps
