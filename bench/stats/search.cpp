#include "bench/stats/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

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

namespace {

// Two sizes so far apart that what is held whatever the size does not hide the slope.
constexpr std::int64_t kApart = 16;

// A size between two: their geometric mean where they are far apart, else their arithmetic mean.
std::int64_t middle(std::int64_t low, std::int64_t high) {
  const double ratio = static_cast<double>(high) / static_cast<double>(low);
  return ratio > 4 ? static_cast<std::int64_t>(static_cast<double>(low) * std::sqrt(ratio))
                   : low + (high - low) / 2;
}

using Known = std::pair<const std::int64_t, std::optional<std::int64_t>>;  // a size and its amount

// The size whose amount is `most` on the line through two sizes, the first of which takes less.
std::int64_t on_the_line(const Known& low, const Known& other, std::int64_t most, std::int64_t limit) {
  const double slope = other.first == low.first ? 0
                                                : static_cast<double>(*other.second - *low.second) /
                                                      static_cast<double>(other.first - low.first);
  if (!(slope > 0)) {  // of a flat part: setup holds more than a step of either size
    return low.first * kApart;
  }
  constexpr double kRounding = 1e-6;  // must not cost the size that fills it exactly
  const double more = std::floor(static_cast<double>(most - *low.second) / slope + kRounding);
  return low.first + static_cast<std::int64_t>(std::min(more, static_cast<double>(limit - low.first)));
}

}  // namespace

std::int64_t LineSearch::largest_within(std::int64_t most) {
  constexpr int kHalvedEvery = 4;
  const auto within = [&](const Known& known) { return known.second && *known.second <= most; };
  const auto fits = [&](std::int64_t size) {
    auto known = known_.find(size);
    if (known == known_.end()) {
      known = known_.emplace(size, amount_(size)).first;
    }
    return within(*known);
  };
  if (!fits(first_)) {
    return 0;
  }
  fits(std::min(kApart * first_, limit_));
  std::int64_t up = 1;    // the least distance from the lower end: doubles while the line stays below it
  std::int64_t down = 1;  // the same for the upper end
  for (int asked = 1;; ++asked) {
    const auto above = std::find_if(known_.rbegin(), known_.rend(), within).base();
    const auto below = std::prev(above);  // the largest known that fits
    const std::int64_t low = below->first;
    const std::int64_t high = above == known_.end() ? limit_ + 1 : above->first;
    const std::int64_t range = high - low;
    if (range == 1) {
      return low;
    }
    // The line goes through both; where nothing larger is known, through the two largest that fit.
    const auto other = above != known_.end() ? above : below != known_.begin() ? std::prev(below) : below;
    const bool halves = !other->second || asked % kHalvedEvery == 0;
    const std::int64_t named = halves ? middle(low, high) : on_the_line(*below, *other, most, limit_);
    const std::int64_t size =
        halves ? named : std::clamp(named, low + std::min(up, range / 2), high - std::min(down, range / 2));
    const bool fit = fits(size);
    up = fit && size > named ? 2 * up : 1;
    down = !fit && size < named ? 2 * down : 1;
  }
}

}  // namespace bench
