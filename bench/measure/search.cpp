#include "bench/measure/search.h"

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

}  // namespace

// The answer is at least low and below high; high may be beyond the limit.
struct LineSearch::Bracket {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

LineSearch::LineSearch(std::int64_t first, std::int64_t limit, Amount amount)
    : first_(first), limit_(limit), amount_(std::move(amount)) {}

bool LineSearch::fits(std::int64_t size, std::int64_t most) {
  auto known = known_.find(size);
  if (known == known_.end()) {
    known = known_.emplace(size, amount_(size)).first;
  }
  return known->second && *known->second <= most;
}

LineSearch::Bracket LineSearch::bracket(std::int64_t most) const {
  Bracket between{.low = first_, .high = limit_ + 1};
  for (const auto& [size, amount] : known_) {
    if (amount && *amount <= most) {
      between.low = size;
    }
  }
  if (const auto above = known_.upper_bound(between.low); above != known_.end()) {
    between.high = above->first;
  }
  return between;
}

// Through both ends; where nothing larger is known, through the lower one and the size known below it.
std::int64_t LineSearch::on_the_line(const Bracket& between, std::int64_t most) const {
  const auto low = known_.find(between.low);
  auto other = known_.find(between.high);
  if (other == known_.end()) {
    other = low;
    while (other != known_.begin() && (other == low || !other->second)) {
      --other;
    }
  }
  const double slope = other == low ? 0
                                    : static_cast<double>(*other->second - *low->second) /
                                          static_cast<double>(other->first - low->first);
  if (!(slope > 0)) {  // of a flat part: setup holds more than a step of either size
    return between.low * kApart;
  }
  constexpr double kRounding = 1e-6;  // must not cost the size that fills it exactly
  const double more = std::floor(static_cast<double>(most - *low->second) / slope + kRounding);
  return between.low + static_cast<std::int64_t>(std::min(more, static_cast<double>(limit_ - between.low)));
}

std::int64_t LineSearch::largest_within(std::int64_t most) {
  constexpr int kHalvedEvery = 4;
  if (!fits(first_, most)) {
    return 0;
  }
  fits(std::min(kApart * first_, limit_), most);
  std::int64_t up = 1;    // the least distance from the lower end: doubles while the line stays below it
  std::int64_t down = 1;  // the same for the upper end
  for (int asked = 1;; ++asked) {
    const Bracket between = bracket(most);
    const std::int64_t range = between.high - between.low;
    if (range == 1) {
      return between.low;
    }
    const std::int64_t lowest = between.low + std::min(up, range / 2);
    const std::int64_t highest = between.high - std::min(down, range / 2);
    const auto above = known_.find(between.high);
    const bool without_amount = above != known_.end() && !above->second;  // the line says nothing of it
    const bool halves = without_amount || asked % kHalvedEvery == 0;
    const std::int64_t named = halves ? middle(between.low, between.high) : on_the_line(between, most);
    const std::int64_t size = halves ? named : std::clamp(named, lowest, highest);
    const bool fit = fits(size, most);
    up = fit && size > named ? 2 * up : 1;
    down = !fit && size < named ? 2 * down : 1;
  }
}

}  // namespace bench
