#include "bench/measure/schedule.h"

#include <numeric>
#include <random>
#include <utility>

#include "bench/measure/random.h"

namespace bench {

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
