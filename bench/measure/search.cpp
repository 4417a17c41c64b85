#include "bench/measure/search.h"

#include <algorithm>

namespace bench {

LargestFit find_largest_fit(std::int64_t guess, std::int64_t limit,
                            const std::function<bool(std::int64_t size)>& fits) {
  LargestFit found;
  const auto ask = [&](std::int64_t size) {
    ++found.asked;
    return fits(size);
  };
  guess = std::clamp<std::int64_t>(guess, 1, limit);
  std::int64_t low = 0;           // fits
  std::int64_t high = limit + 1;  // does not, as far as is asked for
  std::int64_t distance = 1;
  if (ask(guess)) {
    low = guess;
    for (; low < limit && high > limit; distance *= 2) {
      const std::int64_t size = distance < limit - low ? low + distance : limit;
      (ask(size) ? low : high) = size;
    }
  } else {
    high = guess;
    for (; high > 1 && low == 0; distance *= 2) {
      const std::int64_t size = distance < high - 1 ? high - distance : 1;
      if (ask(size)) {
        low = size;
      } else {
        high = size;
      }
    }
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (ask(middle) ? low : high) = middle;
  }
  found.size = low;
  found.bounded = high <= limit;
  return found;
}

}  // namespace bench
