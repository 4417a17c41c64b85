// The largest size that fits, found by asking as seldom as possible.
#pragma once

#include <cstdint>
#include <functional>

namespace bench {

struct LargestFit {
  std::int64_t size = 0;  // the largest that fits; 0 where not even 1 does
  bool bounded = false;   // size + 1 was found not to fit; false at the limit
  int asked = 0;
};

// Sizes 1 to `limit` fit up to some size and not beyond. Asks at `guess` first, then at its neighbour on the
// side of the answer, then at distances that double until the answer lies between two sizes, then halves: 2
// questions for a right guess, at most 2 + 2·log2(its error + 1) for a wrong one. guess and limit at least 1.
LargestFit find_largest_fit(std::int64_t guess, std::int64_t limit,
                            const std::function<bool(std::int64_t size)>& fits);

}  // namespace bench
