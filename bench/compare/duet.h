// Two programs measured in turn, pair by pair: which of them first, and after how many pairs to look.
#pragma once

#include <cstdint>

#include "bench/compare/matching.h"

namespace bench {

// Looks are after 5, 7, 10, 14, 19, … pairs. Fewer than five tell too little of each point's own noise; each
// look costs some of the level, so that later ones are rarer.
bool is_duet_look(std::int64_t pairs);

// A B, B A, A B, …, so that neither side always has the warmer machine. Pairs are counted from 1.
Side first_of_pair(std::int64_t pair);

}  // namespace bench
