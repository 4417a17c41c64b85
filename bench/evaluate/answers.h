// The sentences that an evaluation ends in, one a question, and the notes that limit them.
#pragma once

#include <string>
#include <vector>

#include "bench/evaluate/evaluation.h"

namespace bench {

// From the evaluation's rows; at most five have a place among the headlines.
std::vector<Answer> answers_of(const Evaluation& evaluation);
// Whether it is a headline with amounts of money: the first of them names their currency, or whose it is.
bool names_currency(const Answer& answer);
// What the answers rest on, a sentence each.
std::vector<std::string> notes_of(const Evaluation& evaluation);
// Those of the notes that say how a purchase is spread, and what is in the costs.
std::vector<std::string> cost_notes(const Evaluation& evaluation);

}  // namespace bench
