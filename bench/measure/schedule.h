// The order in which a round visits the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

// A permutation of 0 … points-1 (Fisher–Yates over mt19937_64): another one for each round, the same for the
// same three numbers on every platform. Shuffling keeps a slow drift, such as a warming chip, from always
// meeting the same point at the same time.
std::vector<std::size_t> shuffled_round(std::size_t points, std::uint64_t seed, std::uint64_t round);

}  // namespace bench
