// The largest number for which something holds.
#pragma once

#include <cstdint>

namespace bench {

// From 1 to `most`, of a condition that is true up to some number; 0: it holds for none.
template <class Condition>
std::int64_t largest_of(std::int64_t most, const Condition& holds) {
  std::int64_t low = 0;
  std::int64_t high = most + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace bench
