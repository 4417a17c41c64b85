#include "kernels/tune/fastest.h"

#include <algorithm>
#include <limits>

namespace bench::kernels::cuda {
namespace {

constexpr int kRuns = 5;

// The shortest of a way's runs; nullopt where one of them failed. Ends early where the way is far behind.
std::optional<float> shortest(std::size_t way, const Attempt& attempt, float to_beat) {
  if (!attempt(way)) {
    return std::nullopt;
  }
  float best = std::numeric_limits<float>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const std::optional<float> elapsed = attempt(way);
    if (!elapsed) {
      return std::nullopt;
    }
    best = std::min(best, *elapsed);
    if (*elapsed > 2 * to_beat) {
      break;  // no noise makes up for that
    }
  }
  return best;
}

}  // namespace

std::optional<std::size_t> fastest_of(std::size_t ways, const Attempt& attempt) {
  std::optional<std::size_t> best;
  float best_milliseconds = std::numeric_limits<float>::infinity();
  for (std::size_t way = 0; way < ways; ++way) {
    const std::optional<float> elapsed = shortest(way, attempt, best_milliseconds);
    if (elapsed && (!best || *elapsed < best_milliseconds)) {
      best = way;
      best_milliseconds = *elapsed;
    }
  }
  return best;
}

}  // namespace bench::kernels::cuda
