#include "bench/stats/rounds.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "bench/stats/random.h"
#include "bench/stats/round_interval.h"

namespace bench {

bool is_look(std::int64_t rounds) {
  std::int64_t look = kManyRounds;
  while (look < rounds) {
    look = (7 * look + 4) / 5;
  }
  return look == rounds;
}

std::vector<std::string> StopRule::flags(const SampleStats& stats) const {
  if (stats.rounds < least_rounds || !stats.ci95_ns) {
    return {kFewRoundsFlag};
  }
  return stats.half_width() > kNoisy ? std::vector<std::string>{kNoisyFlag} : std::vector<std::string>{};
}

std::int64_t samples_for_repetition(double step_ns, double sampling_ns, std::int64_t most,
                                    std::int64_t least) {
  if (!(step_ns > 0)) {
    return most;
  }
  return static_cast<std::int64_t>(
      std::clamp(sampling_ns / step_ns, static_cast<double>(least), static_cast<double>(most)));
}

std::vector<std::size_t> shuffled_round(std::size_t points, std::uint64_t seed, std::uint64_t round) {
  std::vector<std::size_t> order(points);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 engine(stream_seed(seed, round));
  for (std::size_t left = points; left > 1; --left) {
    std::swap(order[left - 1], order[bounded_draw(engine, left)]);
  }
  return order;
}

}  // namespace bench
