// The sentences that an evaluation ends in, one a question, and the notes that limit them.
#pragma once

#include <string>
#include <vector>

#include "bench/evaluate/evaluation.h"

namespace bench {

// From the evaluation's rows; at most five have a place among the headlines.
std::vector<Answer> answers_of(const Evaluation& evaluation);
// What the answers rest on, a sentence each.
std::vector<std::string> notes_of(const Evaluation& evaluation);

}  // namespace bench
